package client

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/wire"
)

// Lease is units that were taken ahead, to be spent here without asking. What is
// left when it ends is lost. Its fields are not to be changed. It is safe for
// concurrent use; nil and the zero value have nothing to spend.
//
// All units were charged before they were granted, so spending them admits
// nothing beyond a limit. To have more when they are used up or have ended, ask
// for another lease, and meanwhile about each request with Check.
type Lease struct {
	Granted int64 // 0 is a denial
	// RetryAfter is when a unit may be granted, if none is; Never when none will.
	RetryAfter weir.Micros
	// Rule, Scope, Limit and Remaining are of the limit that grants least.
	Rule, Scope   string
	Limit         weir.Limit
	Remaining     int64
	Reason        weir.Reason
	PolicyVersion string

	left  atomic.Int64
	until time.Time
	wall  time.Time // until, by the wall clock
	now   func() time.Time
}

// Of a lease's life, so much is not made use of: two clocks that should be
// equally fast differ by less than 1 in 1000, and between looking at one and
// acting there is time.
const (
	leaseMargin     = time.Millisecond
	leaseMarginPart = 1000
)

// Lease asks the server for up to want units of every limit that applies to r,
// which says whose units as in Check. It takes a call of its own, within ctx and
// the client's deadline. Policies must say lease: auto.
//
// A lease of nothing is no error: see Granted and RetryAfter. There is no
// fallback: a server, or its store, that is away is an error, and checks go on.
func (c *Client) Lease(ctx context.Context, r *weir.Request, want int64) (*Lease, error) {
	if err := wire.Validate(r); err != nil {
		return nil, err
	}
	if want < 1 || want > weir.MaxCount {
		return nil, invalid("want", "is outside 1 to 10000000", "")
	}
	for i := range r.Descriptors {
		if d := &r.Descriptors[i]; d.HasCost || d.Refund || d.Spent {
			return nil, invalid("descriptors", "a lease has no costs, refunds or units spent", "say how many units you want")
		}
	}
	return c.lease(ctx, r, want, time.Now)
}

func (c *Client) lease(ctx context.Context, r *weir.Request, want int64, now func() time.Time) (*Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, c.deadline)
	defer cancel()
	sent := now() // before the server can have charged anything
	out, err := c.limiter.Lease(ctx, wire.Lease(r, want))
	if err != nil {
		return nil, callError(err)
	}
	g, err := wire.Granted(out, want)
	if err != nil {
		return nil, err
	}
	life := g.ExpiresAfter.Duration()
	l := &Lease{
		Granted: g.Granted, RetryAfter: g.RetryAfter, Rule: g.Rule, Scope: g.Scope, Limit: g.Limit,
		Remaining: g.Remaining, Reason: g.Reason, PolicyVersion: g.PolicyVersion,
		until: sent.Add(life - leaseMargin - life/leaseMarginPart), now: now,
	}
	l.wall = l.until.Round(0)
	l.left.Store(g.Granted)
	return l, nil
}

// Spend takes n units, and tells whether they may be used: all of them or none.
// It never does once the lease has ended. n below 1 is none.
func (l *Lease) Spend(n int64) bool {
	if l == nil || n < 1 {
		return false
	}
	for {
		left := l.left.Load()
		if left < n {
			return false
		}
		if l.left.CompareAndSwap(left, left-n) {
			break
		}
	}
	// The clock comes last: whoever was stopped before this finds that it is over.
	return !l.Ended()
}

// Left is how many units may be spent, now.
func (l *Lease) Left() int64 {
	if l == nil || l.Ended() {
		return 0
	}
	return l.left.Load()
}

// Ended tells whether nothing may be spent any more because of the time.
func (l *Lease) Ended() bool {
	if l == nil || l.now == nil {
		return true
	}
	now := l.now()
	// By the monotonic clock, which nobody sets; and by the wall clock, which goes
	// on while a machine is suspended. Whichever is later counts.
	return !now.Before(l.until) || !now.Round(0).Before(l.wall)
}

// Ends is when the lease does.
func (l *Lease) Ends() time.Time {
	if l == nil {
		return time.Time{}
	}
	return l.until
}
