package admission

import (
	"context"
	"math"
	"time"

	"github.com/weirlimit/weir"
)

// afterTimeout bounds what is done for a request after its response, when its
// own context may have ended: nobody waits for it, but it must end.
const afterTimeout = time.Second

// releaseTimeout bounds the release of a place, which a response waits for: many
// times what a checker takes that answers at all.
const releaseTimeout = 100 * time.Millisecond

// GiveBack has the End give back what the request was charged.
func (p *Pass) GiveBack() { p.back = true }

// End is what is left to do when the handler has returned, or was never called:
// release the request's place, and charge the n units that it turned out to cost
// on top, whether they fit or not, or give back -n. It takes p over, until free
// is called.
//
// Under an id that the caller sends again, the same is charged or given back
// once.
func (p *Pass) End(ctx context.Context, n int64) {
	p.Release(ctx)
	switch {
	case p.back && p.charged:
		p.amend(ctx, weir.Descriptor{Cost: p.cost, HasCost: true, Refund: true})
	case p.back || n == 0 || !p.known:
		p.free()
	case n > 0:
		p.amend(ctx, weir.Descriptor{Cost: n, HasCost: true, Spent: true})
	default:
		p.amend(ctx, weir.Descriptor{Cost: -max(n, -math.MaxInt64), HasCost: true, Refund: true})
	}
}

// Release gives back what the request holds of limits of concurrency, once. What
// may fail before the End, such as code of others, comes after it.
func (p *Pass) Release(ctx context.Context) {
	if !p.holds {
		return
	}
	p.holds = false
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	_, _, err := p.gate.releaser.Release(ctx, &p.Request)
	p.gate.Tell(err)
}

// amend makes p another request of the same dimensions and policy. It does not
// end with ctx, and an asynchronous checker is not waited for.
func (p *Pass) amend(ctx context.Context, d weir.Descriptor) {
	d.Pairs = p.Request.Descriptors[0].Pairs
	p.Request.Descriptors[0] = d
	if p.chosen {
		p.Request.ID = "" // nobody sends it again
	}
	if async := p.gate.async; async != nil {
		async.Submit(&p.Request, &p.Decision, p.settled)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterTimeout)
	defer cancel()
	p.settled(p.gate.checker.Check(ctx, &p.Request, &p.Decision))
}

// Spend charges units that a request spends while its handler runs, whether they
// fit or not, and waits where d then says so. It returns nil when d says whether
// to go on, and fails as Ask and Wait do. Equal costs are not one cost sent
// twice: they have no id. It may be called by several goroutines at once, each
// with a d of its own.
func (p *Pass) Spend(ctx context.Context, n int64, d *weir.Decision) error {
	if !p.known { // whose units these are was not known, and it passed
		p.gate.decide(d)
		return nil
	}
	r := weir.Request{Domain: p.Request.Domain, Policy: p.Request.Policy, Descriptors: []weir.Descriptor{{
		Pairs: p.Request.Descriptors[0].Pairs, Cost: n, HasCost: true, Spent: true,
	}}}
	if err := decided(d, p.gate.checker.Check(patient(ctx), &r, d)); err != nil {
		if err = p.gate.undecided(ctx, err, false, d); err != nil {
			return err
		}
	}
	if d.Allowed() && ctx.Err() != nil {
		return gone(ctx)
	}
	return p.gate.wait(ctx, d)
}
