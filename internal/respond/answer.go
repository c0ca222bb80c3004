package respond

import (
	"math"

	"github.com/weirlimit/weir"
)

// Answer is a decision and what HTTP needs besides. To makes one.
type Answer struct {
	Decision *weir.Decision
	// Now is the wall clock, for the one field that names an instant.
	Now weir.Micros
	// Retry is the value of Retry-After in seconds; 0 for none. The body of a
	// denial says the same number as the field.
	Retry int64
	// Scope is what shares the counter of the limit that binds, such as tenant
	// or tenant,route. Empty when it is not known; it is then not mentioned.
	Scope string
}

// To returns the answer to d at that time. draw returns a number from 0 to n-1,
// each as likely, as rand.Int64N does; nil is no jitter.
func To(d *weir.Decision, now weir.Micros, draw func(n int64) int64) Answer {
	return Answer{Decision: d, Now: now, Retry: RetryAfter(d, draw), Scope: d.Scope}
}

// RetryAfter returns the seconds after which to try again: the exact time,
// rounded up, and as much again by chance at most, so that those who were
// denied together do not return together. It is never earlier than
// d.RetryAfter, and 1 at least. It is 0, for no such field, when d is no denial
// and when the request can never pass.
func RetryAfter(d *weir.Decision, draw func(n int64) int64) int64 {
	if d.Verdict != weir.Deny || d.RetryAfter == weir.Never {
		return 0
	}
	base := max(1, d.RetryAfter.Seconds())
	if draw == nil {
		return base
	}
	return base + min(max(0, draw(base+1)), base)
}

// The statuses of an answer.
const (
	statusOK          = 200
	statusTooMany     = 429
	statusUndecided   = 500
	statusUnavailable = 503
)

// Status returns the HTTP status: 200, 429 for a denial, 503 for one that is no
// fault of the caller's, because nothing could be decided or the service has no
// room, and 500 for no decision.
func (a *Answer) Status() int {
	switch {
	case a.Decision.Verdict == weir.Allow:
		return statusOK
	case a.Decision.Verdict != weir.Deny:
		return statusUndecided
	case a.Decision.Reason == weir.ReasonDegraded, a.Decision.Reason == weir.ReasonShed:
		return statusUnavailable
	}
	return statusTooMany
}

// binds tells whether there is a limit to speak of: one that is known with what
// is left of it, and not only watched.
func (a *Answer) binds() bool {
	d := a.Decision
	if d.Limit.Count == 0 || d.Reason == weir.ReasonDegraded {
		return false
	}
	for i := range d.Charges {
		if shown(&d.Charges[i]) && a.isBinding(&d.Charges[i]) {
			return true
		}
	}
	return len(d.Charges) == 0
}

func (a *Answer) isBinding(c *weir.Charged) bool {
	return c.Rule == a.Decision.Rule && c.Limit == a.Decision.Limit
}

// shown tells whether a charge is one that callers are told of.
func shown(c *weir.Charged) bool { return c.Mode != weir.Shadow }

// effective is the time, in seconds, for which the remaining units are all
// there is. A denial ends it with the exact time to try again, since
// Retry-After should not point before its end.
func (a *Answer) effective() int64 {
	d := a.Decision
	if d.Verdict == weir.Deny && d.RetryAfter != weir.Never {
		return d.RetryAfter.Seconds()
	}
	return d.ResetAfter.Seconds()
}

// resetAt is when nothing is in use any more, in Unix seconds, rounded up.
func (a *Answer) resetAt() int64 {
	if a.Now > 0 && a.Decision.ResetAfter > math.MaxInt64-a.Now {
		return weir.Never.Seconds()
	}
	return (a.Now + max(0, a.Decision.ResetAfter)).Seconds()
}
