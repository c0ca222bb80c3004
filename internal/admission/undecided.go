package admission

import (
	"context"
	"errors"

	"github.com/weirlimit/weir"
)

// attribution is the error of a dimension.
type attribution struct{ err error }

func (a *attribution) Error() string { return "attribute request: " + a.err.Error() }
func (a *attribution) Unwrap() error { return a.err }

// Unattributed says that err is why it is not known whose request it is. It
// refuses the request unless it is a *weir.Error whose code is temporary.
func Unattributed(err error) error { return &attribution{err} }

// Undecided answers a request about which err was returned in place of a
// decision. It returns nil when Decision says what to do; else the request is
// refused with the error: it is wrong, or its caller is gone (CodeCanceled,
// CodeTimeout).
func (p *Pass) Undecided(ctx context.Context, err error) error {
	if p.back { // a decision there was, and what it took is known
		return err
	}
	switch weir.CodeOf(err) {
	case weir.CodeInvalid, weir.CodePolicyNotFound: // nothing was counted
	default: // an answer that was lost may have counted
		p.holds = p.chosen && p.gate.releaser != nil
	}
	return p.gate.undecided(ctx, err, p.Request.ID != "" && !p.chosen, &p.Decision)
}

// undecided fills d in the checker's place, or returns why the request is
// refused. named tells that the caller chose the id.
func (g *Gate) undecided(ctx context.Context, err error, named bool, d *weir.Decision) error {
	g.Tell(err)
	switch {
	case ctx.Err() != nil:
		return gone(ctx)
	case refuses(err, named):
		return err
	}
	g.decide(d)
	return nil
}

// refuses tells whether an error is the request's own. That an id is missing is
// not: giving one is the middleware's business.
func refuses(err error, named bool) bool {
	if _, ok := errors.AsType[*attribution](err); ok {
		return !weir.CodeOf(err).Temporary()
	}
	return weir.CodeOf(err) == weir.CodeInvalid && (named || !wantsID(err))
}

// Gone tells whether an error is that of a request whose caller no longer waits.
func Gone(err error) bool {
	code := weir.CodeOf(err)
	return code == weir.CodeCanceled || code == weir.CodeTimeout
}

func gone(ctx context.Context) error {
	code := weir.CodeCanceled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code = weir.CodeTimeout
	}
	return &weir.Error{Code: code, Message: "the caller is gone", Err: context.Cause(ctx)}
}

// Fault is what to tell the caller of a request that err refuses; empty when
// that is nobody's business but the operator's.
func Fault(err error) string {
	if a, ok := err.(*attribution); ok {
		err = a.err
	}
	if e, ok := err.(*weir.Error); ok {
		return (&weir.Error{Field: e.Field, Message: e.Message}).Error()
	}
	return ""
}

// Invalid is the error for a field at fault.
func Invalid(field, message, hint string) *weir.Error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: message, Hint: hint}
}
