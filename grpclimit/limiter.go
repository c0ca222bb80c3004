package grpclimit

import (
	"context"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir"
)

// Limiter has the interceptors. Make one with New.
type Limiter struct {
	config
	checker  weir.Checker
	async    weir.AsyncChecker // checker, or nil
	releaser weir.Releaser     // checker, or nil
	ids      ids
	passes   sync.Pool
}

// New returns a limiter that asks c about every call. It cannot fail: what can
// be wrong about its arguments is a nil, and then every call ends with
// codes.Internal, because a limiter that silently is none is worse.
func New(c weir.Checker, opts ...Option) *Limiter {
	l := &Limiter{config: defaults(), checker: c, ids: newIDs()}
	if c == nil {
		l.wrong = invalid("checker", "is missing", "for example what embedded.Open or client.New returns")
	}
	for _, o := range opts {
		if o == nil {
			l.wrong = invalid("option", "is nil", "leave it out")
			continue
		}
		o(&l.config)
	}
	l.async, _ = c.(weir.AsyncChecker)
	l.releaser, _ = c.(weir.Releaser)
	l.passes.New = func() any { return newPass(l) }
	return l
}

// skips tells whether a call passes unlimited.
func (l *Limiter) skips(ctx context.Context, c *Call) bool {
	for _, skip := range l.skip {
		if skip(ctx, c) {
			return true
		}
	}
	return false
}

func (l *Limiter) tell(err error) {
	if err != nil && l.log != nil {
		l.log(err)
	}
}

// misconfigured is the answer to everybody of a limiter that cannot limit.
func (l *Limiter) misconfigured() error {
	l.tell(l.wrong)
	return status.Error(codes.Internal, "the rate limiter is set up wrongly: "+l.wrong.Error())
}
