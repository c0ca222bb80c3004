package native

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/grpcerr"
	"github.com/weirlimit/weir/internal/wire"
)

// Leaser is who grants leases.
type Leaser interface {
	Lease(ctx context.Context, r *weir.Request, want int64) (engine.LeaseGrant, error)
}

// Lease implements the service.
func (l *Limiter) Lease(ctx context.Context, in *weirv1.LeaseRequest) (*weirv1.LeaseResponse, error) {
	var r weir.Request
	if err := wire.Subject(in, &r); err != nil {
		return nil, grpcerr.Status(err)
	}
	switch us := in.GetTimeoutUs(); {
	case us < 0:
		return nil, grpcerr.Status(invalid("timeout_us", fmt.Sprintf("%d is below 0", us)))
	case us > 0:
		r.Deadline = time.Now().Add(weir.Micros(us).Duration())
	}
	if at, ok := ctx.Deadline(); ok && (r.Deadline.IsZero() || at.Before(r.Deadline)) {
		r.Deadline = at
	}
	g, err := l.engine.Lease(ctx, &r, in.GetWant())
	if err != nil {
		return leaseError(ctx, err)
	}
	out := &weirv1.LeaseResponse{
		Code: weirv1.Code_CODE_OK, Granted: g.Granted, Remaining: g.Remaining,
		ExpiresAfterUs: int64(g.ExpiresAfter), RetryAfterUs: int64(g.RetryAfter),
		PolicyVersion: g.PolicyVersion, Reason: weirv1.Reason(g.Reason),
	}
	if g.Granted == 0 {
		out.Code = weirv1.Code_CODE_DENY
	}
	if g.Rule != "" {
		out.Quota = wire.Quota(g.Rule, g.Limit)
		out.Quota.Scope = g.Scope
	}
	return out, nil
}

// leaseError answers what could not be granted. A store that is late is a store
// that is away: the caller's own deadline is another matter. What a store says of
// itself, such as where it is, is the operator's to know and not the caller's.
func leaseError(ctx context.Context, err error) (*weirv1.LeaseResponse, error) {
	switch weir.CodeOf(err) {
	case weir.CodePolicyNotFound:
		return &weirv1.LeaseResponse{Code: weirv1.Code_CODE_POLICY_NOT_FOUND}, nil
	case weir.CodeInvalid, weir.CodeNotReady, weir.CodeClosed, weir.CodeOverload:
		return nil, grpcerr.Status(err)
	case weir.CodeTimeout, weir.CodeCanceled:
		if ctx.Err() != nil {
			return nil, status.FromContextError(ctx.Err()).Err()
		}
	}
	return nil, status.Error(codes.Unavailable, "nothing is leased while the store is away (ask about each request with Check)")
}
