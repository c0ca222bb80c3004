package grpclimit

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/respond"
)

// pass is one call on its way, and the memory that takes.
type pass struct {
	limiter *Limiter
	req     weir.Request // of one descriptor
	dec     weir.Decision
	cost    int64 // charged before the handler
	chosen  bool  // the id is ours
	holds   bool  // there may be something to release
	charged bool  // there is something to refund

	fields respond.Fields
}

func newPass(l *Limiter) *pass {
	return &pass{limiter: l, req: weir.Request{Descriptors: make([]weir.Descriptor, 1)}}
}

// fill makes p the request that the call is.
func (p *pass) fill(ctx context.Context, c *Call) error {
	l := p.limiter
	p.cost, p.chosen, p.holds, p.charged = 1, false, false, false
	if l.cost != nil {
		p.cost = max(0, l.cost(ctx, c))
	}
	pairs := p.req.Descriptors[0].Pairs[:0]
	for _, f := range l.dimensions {
		var err error
		if pairs, err = f(ctx, c, pairs); err != nil {
			return &attribution{err}
		}
	}
	if !slices.ContainsFunc(pairs, func(p weir.Pair) bool { return p.Name == "route" }) {
		pairs = append(pairs, weir.Pair{Name: "route", Value: c.Method})
	}
	p.req = weir.Request{Domain: l.domain, Policy: l.policy, Descriptors: p.req.Descriptors}
	p.req.Descriptors[0] = weir.Descriptor{Pairs: pairs, Cost: p.cost, HasCost: true}
	if l.idKey != "" {
		if id := metadata.ValueFromIncomingContext(ctx, l.idKey); len(id) == 1 {
			p.req.ID = id[0]
		}
	}
	return nil
}

// attribution is the error of a dimension.
type attribution struct{ err error }

func (a *attribution) Error() string { return "attribute call: " + a.err.Error() }
func (a *attribution) Unwrap() error { return a.err }

// enter asks about a call, and waits where a leaky bucket says so. It returns
// nil when p.dec says what to do. Else nothing was decided: the call is wrong
// (CodeInvalid), or its caller is gone (CodeCanceled, CodeTimeout).
func (p *pass) enter(ctx context.Context, c *Call) error {
	l := p.limiter
	err := p.fill(ctx, c)
	if err == nil {
		err = p.ask(ctx)
	}
	if err != nil {
		return p.undecided(ctx, err)
	}
	d := &p.dec
	p.charged = d.Allowed() && d.Reason != weir.ReasonDegraded && p.cost > 0
	p.holds = p.req.ID != "" && l.releaser != nil && p.acquired()
	if d.Allowed() && d.Delay > 0 && l.maxDelay >= 0 {
		return p.wait(ctx)
	}
	return nil
}

func (p *pass) ask(ctx context.Context) error {
	l := p.limiter
	if l.slots && p.req.ID == "" {
		p.req.ID, p.chosen = l.ids.next(), true
	}
	err := l.checker.Check(ctx, &p.req, &p.dec)
	if err != nil && p.req.ID == "" && l.releaser != nil && wantsID(err) {
		p.req.ID, p.chosen = l.ids.next(), true
		err = l.checker.Check(ctx, &p.req, &p.dec)
	}
	if err == nil && p.dec.Verdict != weir.Allow && p.dec.Verdict != weir.Deny {
		err = &weir.Error{Message: "the checker made no decision"}
	}
	return err
}

// acquired tells whether the call may have taken a place of a concurrency
// limit, which it has to give back.
func (p *pass) acquired() bool {
	d := &p.dec
	if d.Reason == weir.ReasonDegraded { // a store that did not answer in time may have counted
		return p.chosen
	}
	if !d.Allowed() || d.Reason == weir.ReasonNoRule || d.Replayed {
		return false // a replay's place is the first one's, which gives it back itself
	}
	for i := range d.Charges {
		c := &d.Charges[i]
		if c.Limit.Algorithm == weir.Concurrency && c.Outcome.Granted > 0 {
			return true
		}
	}
	// A checker need not list the charges. Releasing what is not held does
	// nothing.
	return len(d.Charges) == 0 && p.chosen
}

// undecided answers in the checker's place.
func (p *pass) undecided(ctx context.Context, err error) error {
	l := p.limiter
	l.tell(err)
	p.holds = p.chosen && l.releaser != nil // an answer that was lost may have counted
	if ctx.Err() != nil {
		return gone(ctx)
	}
	if refuses(err) {
		return err
	}
	d := &p.dec
	*d = weir.Decision{Charges: d.Charges[:0], Matched: d.Matched[:0], RuleIndex: -1}
	d.Verdict, d.Reason, d.Source = weir.Allow, weir.ReasonDegraded, weir.SourceBackstop
	if l.closed {
		d.Verdict, d.RetryAfter = weir.Deny, retryDegraded
	}
	return nil
}

// retryDegraded is when to come back to a limiter that cannot decide.
const retryDegraded = weir.Second

// refuses tells whether an error is the call's own: if that passed, a caller
// could choose not to be limited. An id is this package's business.
func refuses(err error) bool {
	if _, ok := errors.AsType[*attribution](err); ok {
		return !weir.CodeOf(err).Temporary()
	}
	return weir.CodeOf(err) == weir.CodeInvalid && !wantsID(err)
}

// wait holds an admitted call back for as long as was said. One that would have
// to wait too long, or whose caller leaves meanwhile, gives its units back.
func (p *pass) wait(ctx context.Context) error {
	d := &p.dec
	most := weir.MicrosOf(p.limiter.maxDelay)
	if d.Delay > most {
		p.giveBack(ctx)
		tooLong(d, most)
		return nil
	}
	if !sleep(ctx, d.Delay) {
		p.giveBack(ctx)
		return gone(ctx)
	}
	return nil
}

// tooLong makes the decision a denial by the limit whose delay is longer than
// most. Once the difference has passed, the delay is not.
func tooLong(d *weir.Decision, most weir.Micros) {
	d.Verdict, d.Reason, d.Remaining, d.RetryAfter = weir.Deny, weir.ReasonExhausted, 0, d.Delay-most
	for i := range d.Charges {
		c := &d.Charges[i]
		if c.Outcome.Delay != d.Delay {
			continue
		}
		if c.Rule != d.Rule {
			d.Scope = "" // the other rule's
		}
		d.Rule, d.Limit, d.ResetAfter = c.Rule, c.Limit, c.Outcome.ResetAfter
		break
	}
	d.Delay = 0
}

// sleep waits, and tells whether ctx lasted.
func sleep(ctx context.Context, span weir.Micros) bool {
	t := time.NewTimer(span.Duration())
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// gone is the error for a call whose caller no longer waits.
func gone(ctx context.Context) error {
	code := weir.CodeCanceled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code = weir.CodeTimeout
	}
	return &weir.Error{Code: code, Message: "the caller is gone", Err: context.Cause(ctx)}
}
