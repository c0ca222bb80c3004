package client

import (
	"context"
	"fmt"
	"time"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/wire"
)

// decided answers a check with what the server says.
func (c *Client) decided(t ticket, with *weirv1.CheckResponse) {
	err := wire.Decision(with, max(1, len(t.req.Descriptors)), t.dec)
	if err != nil && !callers(err) {
		c.undecided(t, err)
		return
	}
	if err == nil {
		c.tell(t)
	}
	if t.wait != nil {
		t.wait.answer(err, nil)
		return
	}
	c.callBack(t.done, err)
}

// callers tells whether an error is the caller's own doing, which a fallback
// would only repeat.
func callers(err error) bool {
	code := weir.CodeOf(err)
	return code == weir.CodeInvalid || code == weir.CodePolicyNotFound
}

// undecided answers a check that the server does not. It does not block: whoever
// waits for the answer asks the fallback.
func (c *Client) undecided(t ticket, why error) {
	switch {
	case t.wait != nil:
		t.wait.answer(nil, why)
	case c.async != nil:
		own := c.handOver(&t)
		c.async.Submit(t.req, t.dec, func(err error) {
			t.req.Deadline = own
			c.callBack(t.done, c.degraded(t, why, err))
		})
	case c.fallback != nil: // as many as may be outstanding, at most
		c.aside(func() { c.callBack(t.done, c.stepIn(context.Background(), t, why)) })
	default:
		c.callBack(t.done, c.degraded(t, why, nil))
	}
}

// aside runs f on a goroutine of its own, which Close waits for.
func (c *Client) aside(f func()) {
	c.asides.Lock()
	defer c.asides.Unlock()
	if c.asides.over {
		go f() // came after Close
		return
	}
	c.asides.running.Go(f)
}

// stepIn answers in the server's place.
func (c *Client) stepIn(ctx context.Context, t ticket, why error) error {
	var err error
	if c.fallback != nil {
		own := c.handOver(&t)
		err = c.fallback.Check(ctx, t.req, t.dec)
		t.req.Deadline = own
	}
	return c.degraded(t, why, err)
}

// least is what a fallback is given of the time when nothing is left of it, as
// when the machine was too busy to give up on the server in time: what decides
// in microseconds should not have to fail.
const least = time.Millisecond

// handOver gives the fallback what is left of the time. It returns the request's
// own deadline, which is to be put back.
func (c *Client) handOver(t *ticket) time.Time {
	c.fell.Store(true)
	own := t.req.Deadline
	t.req.Deadline = t.until
	if at := time.Now().Add(least); at.After(t.until) {
		t.req.Deadline = at
	}
	return own
}

// degraded marks the fallback's answer as such, or answers by the fail mode
// where there is none.
func (c *Client) degraded(t ticket, why, err error) error {
	d := t.dec
	if err != nil && callers(err) {
		return err
	}
	if c.fallback == nil || err != nil {
		*d = weir.Decision{Charges: d.Charges[:0], Matched: d.Matched[:0], RuleIndex: -1}
		d.Verdict, d.Reason = weir.Allow, weir.ReasonDegraded
		if c.failMode == FailClosed {
			d.Verdict, d.RetryAfter = weir.Deny, retryClosed
		}
	}
	d.Source = weir.SourceBackstop
	if d.Allowed() { // a denial keeps its own reason: it is no outage to its caller
		d.Reason = weir.ReasonDegraded
	}
	if hook := c.hooks.Degraded; hook != nil {
		hook(d, why)
	}
	c.tell(t)
	return nil
}

func (c *Client) tell(t ticket) {
	if hook := c.hooks.Decided; hook != nil {
		hook(t.req, t.dec, time.Since(t.began))
	}
}

func (c *Client) lost(kind weir.Loss, n int) {
	if hook := c.hooks.Lost; hook != nil && n > 0 {
		hook(kind, n)
	}
}

// callBack answers. A callback that panics is the caller's fault, and must not
// take the stream's goroutine with it.
func (c *Client) callBack(done func(error), err error) {
	defer func() {
		if p := recover(); p != nil && c.hooks.Panicked != nil {
			c.hooks.Panicked(fmt.Sprint(p))
		}
	}()
	done(err)
}
