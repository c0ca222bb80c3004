// Package shed keeps a service alive that is asked for more than it can do, by
// sending away what matters least. A limit tells one caller to slow down (429);
// shedding tells whoever asks that the service has no room (503).
//
//	worker, err := shed.NewWorker(shed.Options{Places: 64})
//	classes, err := shed.NewClassifier(shed.Rules{
//		Routes: []shed.Route{{Pattern: "POST /v1/charges", Priority: shed.Critical}},
//	})
//	http.ListenAndServe(":8080", httplimit.Shed(worker, classes)(mux))
//
// A Classifier gives a request its Priority: test, read, write or critical, by its
// route, else by its method, and lowers it where a header says so. A header raises
// it only when that is trusted: whoever may call itself critical will.
//
// A Worker is this process: so many requests at once, so many that wait. While the
// line grows it has room for fewer and fewer priorities, and while it stands (the
// oldest waits longer than Options.Target, for Options.Interval) it sheds test,
// then read, then write. It recovers step by step. Critical requests wait as long
// as there is a line to wait in.
//
// What the whole fleet can do is no matter of one process: that is a policy with
// answer: unavailable, see docs/load-shedding.md.
//
// Everything is safe for concurrent use. A Worker has no goroutines, needs no
// closing and holds one request's memory for each that waits. A request that finds
// a place costs two atomic operations each way, no allocation and no look at the
// clock. Nothing here panics or returns errors once it is made.
package shed
