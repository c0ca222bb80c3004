package grpclimit

import (
	"context"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir/internal/admission"
	"github.com/weirlimit/weir/internal/respond"
)

// pass is one call on its way, and the memory that takes.
type pass struct {
	admission.Pass
	limiter *Limiter
	fields  respond.Fields
}

func newPass(l *Limiter) *pass {
	p := &pass{limiter: l}
	p.Init(l.gate, func() { l.passes.Put(p) })
	return p
}

// fill makes p the request that the call is.
func (p *pass) fill(ctx context.Context, c *Call) error {
	l := p.limiter
	cost := int64(1)
	if l.cost != nil {
		cost = l.cost(ctx, c)
	}
	pairs := p.Begin(cost)
	for _, f := range l.dimensions {
		var err error
		if pairs, err = f(ctx, c, pairs); err != nil {
			return err
		}
	}
	own := len(pairs)
	pairs = admission.Add(pairs, own, "route", admission.Text(c.Method))
	if l.ranks != nil {
		pairs = admission.Add(pairs, own, "priority", l.ranks(ctx, c).String())
	}
	p.Describe(pairs)
	if l.idKey == "" {
		return nil
	}
	return p.Identify(l.idKey, metadata.ValueFromIncomingContext(ctx, l.idKey))
}

// enter asks about a call, and waits where a leaky bucket says so. It returns
// nil when p.Decision says what to do. Else nothing was decided: the call is
// wrong, or its caller is gone.
func (p *pass) enter(ctx context.Context, c *Call) error {
	err := p.fill(ctx, c)
	if err != nil {
		err = admission.Unattributed(err)
	} else {
		err = p.Ask(ctx)
	}
	if err != nil {
		return p.Undecided(ctx, err)
	}
	return p.Wait(ctx)
}

// finish is what is left to do when the handler has returned, or panicked: give
// the call's place back, and settle what it turned out to cost.
func (p *pass) finish(ctx context.Context, c *Call, r *Result) {
	l := p.limiter
	p.Release(ctx)
	units := int64(0)
	switch {
	case l.refund != nil && l.refund(status.Code(r.Err)):
		p.GiveBack()
	case l.after != nil:
		units = l.after(ctx, c, r)
	}
	p.End(ctx, units)
}
