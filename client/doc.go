// Package client asks a Weir server elsewhere. A Client is a weir.Checker like
// an engine in the same process, so that httplimit, grpclimit and programs run
// over either:
//
//	limits, err := client.New("weir.internal:8081", client.WithTLS(config), client.WithFallback(local))
//	...
//	defer limits.Close()
//
// # How checks travel
//
// All checks of a Client share a stream of weir.v1.Limiter/CheckBatch, or a few.
// Those that come while a message is being written go into the next one
// together, up to 1024: a busy client sends large messages, an idle one waits
// for nothing. There is no timer and no goroutine per check.
//
// # The deadline is kept here
//
// A check is answered by its request's deadline, its context's or the client's
// own (25 ms), whichever is first, and by nobody's grace: the client does not
// rely on the connection to notice that it hangs. The server is given up a little
// before the deadline, so that the fallback has time to answer.
//
// # When the server is away
//
// The fallback answers: a checker of this process, such as an engine with the
// same policies and counters of its own. Without one the fail mode does: open
// (the default) or closed. Source is then backstop, and of what passes the
// reason degraded; weir.Hooks.Degraded is told why.
//
//	            stream made                     stream broke
//	starting ------------------> up -----------------------------> down
//	   |                         |  ^                               |
//	   | many checks in a row    |  | any answer                    | stream made
//	   | had no answer           v  |                               | (backoff, jitter)
//	   +--------------------> stalled: one check in 50 ms           +--> up
//	                          is sent, the others are not
//
// While it is known that nobody answers (down, stalled) nothing waits. What was
// sent and not answered when a stream broke may have been charged: it is never
// sent again, but answered by the fallback and counted (weir.LossUncertain). An
// answer that comes after its deadline is dropped and counted
// (weir.LossLateAnswer). A server that shuts down in good order is left without
// either: what is outstanding is answered first.
//
// # Taking units ahead
//
// Lease asks for many units at once, which are then spent here, with no call for
// each; see there.
//
// # Errors
//
// An error is a *weir.Error: CodeInvalid and CodePolicyNotFound for what the
// caller did wrong, CodeClosed after Close. Nothing else is an error. A request
// has one descriptor at most, and brings no limit of its own: the wire has no
// place for them.
//
// A Client is safe for concurrent use. It holds three goroutines per stream and
// gRPC's own, all gone when Close returns.
package client
