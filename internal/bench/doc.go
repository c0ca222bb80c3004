// Package bench loads a rate limiter over one of its APIs and tells how it
// fared: how many decisions a second, how long they took, and how much processor
// time the processes behind them used for each.
//
//	Plan          what to send, where, and how
//	Requests      the requests by number: made up (Synthetic), every key of those
//	              once (Sweep), or a list (Listed)
//	Run           sends and waits
//	Result        what came of it
//
// A closed loop has a fixed number of callers, each of which waits for its answer
// before it asks again: it finds the most that a server does. An open loop asks
// at a fixed rate whatever is answered, and counts latencies from the instant at
// which a request was due: a server that stalls is charged with every request
// that came meanwhile, also those that could not be sent (coordinated omission).
//
// Request n of a plan is the same in every run, so that two systems can be sent
// the same, and what was sent can be written down afterwards.
//
// Envoy's protocol and the native unary one go through internal/h2client, which
// costs less than a server; the native stream through the client package; HTTP
// through net/http, which costs more than the server and so bounds what can be
// measured. A Run is bounded in time, in requests under way and in memory; plans
// and results are values.
package bench
