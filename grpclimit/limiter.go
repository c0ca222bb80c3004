package grpclimit

import (
	"context"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/admission"
)

// Limiter has the interceptors. Make one with New.
type Limiter struct {
	config
	gate   *admission.Gate
	passes sync.Pool
}

// New returns a limiter that asks c about every call. It cannot fail: what can
// be wrong about its arguments is a nil, and then every call ends with
// codes.Internal, because a limiter that silently is none is worse.
func New(c weir.Checker, opts ...Option) *Limiter {
	l := &Limiter{config: defaults()}
	if c == nil {
		l.wrong = admission.Invalid("checker", "is missing", "for example what embedded.Open or client.New returns")
	}
	for _, o := range opts {
		if o == nil {
			l.wrong = admission.Invalid("option", "is nil", "leave it out")
			continue
		}
		o(&l.config)
	}
	l.gate = admission.NewGate(c, l.Settings)
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

// misconfigured is the answer to everybody of a limiter that cannot limit.
func (l *Limiter) misconfigured() error {
	l.gate.Tell(l.wrong)
	return status.Error(codes.Internal, "the rate limiter is set up wrongly: "+l.wrong.Error())
}
