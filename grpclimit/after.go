package grpclimit

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir"
)

// afterTimeout bounds what happens after a call: nobody waits for it, but it
// must end.
const afterTimeout = time.Second

// finish is what is left to do when the handler has returned, or panicked: give
// the call's place back, and settle what it turned out to cost.
func (p *pass) finish(ctx context.Context, c *Call, r *Result) {
	l := p.limiter
	switch {
	case l.refund != nil && l.refund(status.Code(r.Err)):
		p.refund(ctx)
	case l.after != nil:
		p.settle(ctx, l.after(ctx, c, r))
	}
	p.end(ctx)
}

// end releases what the call holds, and gives p back.
func (p *pass) end(ctx context.Context) {
	p.release(ctx)
	p.limiter.passes.Put(p)
}

func (p *pass) release(ctx context.Context) {
	if !p.holds {
		return
	}
	p.holds = false
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterTimeout)
	defer cancel()
	_, _, err := p.limiter.releaser.Release(ctx, &p.req)
	p.limiter.tell(err)
}

// giveBack undoes an admission.
func (p *pass) giveBack(ctx context.Context) {
	p.release(ctx)
	p.refund(ctx)
}

// refund gives back what the call was charged before its handler, once. Under
// an id that others may send too, they all give back once.
func (p *pass) refund(ctx context.Context) {
	if !p.charged {
		return
	}
	p.charged = false
	id := p.req.ID
	if p.chosen {
		id = "" // nobody sends it again
	}
	p.amend(ctx, id, weir.Descriptor{Cost: p.cost, HasCost: true, Refund: true})
}

// settle charges n units whether they fit or not, or gives back -n. Equal costs
// of one call are not one cost sent twice: they have no id.
func (p *pass) settle(ctx context.Context, n int64) {
	switch {
	case n > 0:
		p.amend(ctx, "", weir.Descriptor{Cost: n, HasCost: true, Spent: true})
	case n < 0:
		p.amend(ctx, "", weir.Descriptor{Cost: -max(n, -maxCost), HasCost: true, Refund: true})
	}
}

// maxCost keeps what is negated in range.
const maxCost = 1<<63 - 1

// amend makes another request of the same dimensions and policy. It does not
// end with ctx, and an asynchronous checker is not waited for: the caller's
// answer is.
func (p *pass) amend(ctx context.Context, id string, d weir.Descriptor) {
	l := p.limiter
	d.Pairs = slices.Clone(p.req.Descriptors[0].Pairs)
	r := &weir.Request{Domain: p.req.Domain, Policy: p.req.Policy, ID: id, Descriptors: []weir.Descriptor{d}}
	out := new(weir.Decision)
	if l.async != nil {
		l.async.Submit(r, out, l.tell)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterTimeout)
	defer cancel()
	l.tell(l.checker.Check(ctx, r, out))
}
