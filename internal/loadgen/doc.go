// Package loadgen asks a [weir.AsyncChecker] at a fixed rate, whatever it
// answers, and tells what became of every request.
//
// It is an open loop: request i is due i/rate after the start, and is sent then
// whether or not those before it were answered, as the requests of strangers
// are. A loop that waits for answers sends less when the server is slow, and so
// omits the very requests that would have been slow. Latencies are therefore
// counted from the instant at which a request was due, not from when it left:
// a generator that was held up makes its figures worse, never better.
//
//	Schedule, Keys   when, and for whom: pure, the same for the same seed
//	Run              sends and waits
//	Result, Step     what came of it, as a whole and per 100 ms
//
// One goroutine sends; a Run holds no other. What is outstanding is bounded, and
// what the bound keeps from being sent is counted, as are requests that left
// late and those that were not answered: [Result.Attained] says whether the
// load was what it should have been. A Run ends with its time or its context and
// a bounded wait for the last answers. Runs are independent of each other; a
// Result is the caller's own.
package loadgen
