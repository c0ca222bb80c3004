package middleware

import (
	"context"
	"errors"

	"github.com/weirlimit/weir"
)

// Spend charges units that the request turned out to cost, whether they fit or
// not. It is not bound to ctx's end: the caller may be gone by then. 0 or less
// charges nothing.
func (p *Pass) Spend(ctx context.Context, cost int64) {
	if cost <= 0 {
		return
	}
	r := p.Request
	r.ID = "" // equal costs of one request are not one cost sent twice
	p.amend(ctx, r, func(d *weir.Descriptor) { d.Cost, d.HasCost, d.Spent = cost, true, true })
}

// refund gives back what an admitted request that is not served was charged.
func (p *Pass) refund(ctx context.Context) {
	p.amend(ctx, p.Request, func(d *weir.Descriptor) { d.Refund = true })
}

// amend makes another request of the same dimensions and policy. p's own
// request and decision stay as they are.
func (p *Pass) amend(ctx context.Context, r weir.Request, change func(*weir.Descriptor)) {
	d := r.Descriptors[0]
	change(&d)
	r.Descriptors = []weir.Descriptor{d}
	var out weir.Decision
	p.after(ctx, func(ctx context.Context) error { return p.gate.Checker.Check(ctx, &r, &out) })
}

// End releases what the request holds, and gives p back. p is not to be used
// afterwards.
func (p *Pass) End(ctx context.Context) {
	if p.holds {
		p.after(ctx, func(ctx context.Context) error {
			_, _, err := p.gate.releaser.Release(ctx, &p.Request)
			return err
		})
	}
	p.gate.passes.Put(p)
}

// after runs what follows a request: it has a time of its own.
func (p *Pass) after(ctx context.Context, do func(context.Context) error) {
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterTimeout)
	defer cancel()
	if err := do(own); err != nil {
		p.gate.failed(ctx, err)
	}
}

// gone is the error for a request whose caller no longer waits.
func gone(ctx context.Context) error {
	code := weir.CodeCanceled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code = weir.CodeTimeout
	}
	return &weir.Error{Code: code, Message: "the caller is gone", Err: context.Cause(ctx)}
}

func asError(err error) *weir.Error {
	if e, ok := errors.AsType[*weir.Error](err); ok {
		return e
	}
	return &weir.Error{Message: "check", Err: err}
}
