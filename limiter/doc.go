// Package limiter is the front door for a Go program that wants to ask "may
// this key pass?" and has its limits at hand. It needs a store and a limit, no
// policies and no server:
//
//	lim, err := limiter.New(memstore.New(), "login", weir.Limit{...})
//	d, err := lim.Allow(ctx, userID)
//	if !d.Allowed() { ... } // d.RetryAfter says when
//
// # Several limits
//
// A limiter with several limits (10 a second and 1000 a day) decides on them
// together: a request that one of them denies is charged to none. The counters
// of one key share a hash tag, so that on a Redis Cluster too this is one round
// trip, and atomic. Changing a limit's count or burst keeps what was consumed;
// changing its window or its algorithm starts a new counter.
//
// # Counters
//
// A counter belongs to the limiter's name and the caller's key: limiters of the
// same name on the same store, in this process or in another, share it. A key
// may hold any bytes. It is stored as it is, up to 200 bytes: hash personal or
// secret values before they get here.
//
// # Failures
//
// A denial is not an error. An error is a *weir.Error and means that nothing
// was decided: the Decision's Verdict is then the zero value, which is not an
// admission. What to do without an answer is the caller's choice, or is made
// once with [Limiter.WithOnError]. A request that failed with CodeTimeout,
// CodeRefused or CodeProtocol may have been charged all the same.
//
// A Limiter is safe for concurrent use and immutable. It holds no goroutine and
// nothing to close; the store is the caller's to close. Allow does not allocate,
// but for a chunk that keys are written into, one in some hundred calls.
package limiter
