// Package fastlane serves unary gRPC methods over an HTTP/2 server of its own,
// and hands every other stream of the same connection to an http.Handler.
//
// # Why
//
// A general gRPC server starts a goroutine per call, builds maps of headers and
// allocates a message. For a decision of a microsecond that is most of its cost.
// Here a call is some bytes in a buffer that was read anyway: when its frames
// have been worked off, a [Handler] takes each message in it on the goroutine
// that reads, and then the answers are written, all at once. A usual call costs no
// goroutine, no allocation and a share of two system calls.
//
// # How
//
//	read ─► frames ─► HPACK ─► Calls ─► Handler.Take of some, and their steps
//	                   │                 │ now        │ later, from any goroutine
//	                   │                 ▼            ▼
//	                   │             out buffer ◄── Call.Reply, Call.Fail
//	                   ▼                 │
//	           Fallback.ServeHTTP ─►     ▼
//	                         one write per read, or per batch of answers
//
// Calls that were read together are served together, some at a time and by turns:
// each is taken, then the memory is fetched that each needs, then each is served, so
// that they wait for memory at once. A [Gatherer] is told, so that who is asked can
// ask others for all of them at once.
//
// What a handler needs for a call stays with it for the next in the same memory:
// see [Call.Keep].
//
// What is answered later is written by who answers, when it answers many calls in
// a row and says so to a [Cork]: once for each connection, and never waiting for
// a peer. Else, and for what a socket does not take at once, the connection has
// a goroutine that writes, from the first time it is needed. Besides it there is
// one that reads, and one for each stream of the fallback.
//
// # Failure
//
// What the peer does wrong ends the stream or the connection, with the codes of
// RFC 9113. Everything a peer can make the server hold or do is bounded, see
// [Options]; what a bound ended is told to [Hooks] by a [Reason]. A panic of a
// handler is answered by Internal, and told.
//
// # Concurrency
//
// A [Server] is safe for concurrent use. A [Call] may be answered from any
// goroutine, once. There is one lock, that of the connection; handlers are
// called without it, and an answer that is given before they return needs none.
package fastlane
