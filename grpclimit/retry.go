package grpclimit

import (
	"context"
	"math/rand/v2"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir/internal/admission"
)

// Retry returns an interceptor for the other side of the wire: a call that is
// denied with RetryInfo, with RESOURCE_EXHAUSTED or UNAVAILABLE, is made again
// when that says, and up to a tenth later by chance. It is made attempts times
// at most. A wait of more than longest, or that would outlast the call's
// deadline, is not begun: the denial is returned at once, and says itself when
// to come back. What was not denied so is not made again: it may have been
// served.
//
//	conn, err := grpc.NewClient(target, grpc.WithChainUnaryInterceptor(grpclimit.Retry(3, 2*time.Second)), ...)
func Retry(attempts int, longest time.Duration) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		for n := 1; ; n++ {
			err := invoke(ctx, method, req, reply, conn, opts...)
			after, denied := retryAfter(err)
			if !denied || n >= attempts || after > longest {
				return err
			}
			after = min(after+rand.N(after/10+1), longest)
			if at, ok := ctx.Deadline(); ok && time.Until(at) < after {
				return err
			}
			if !admission.Sleep(ctx, after) {
				return status.FromContextError(ctx.Err()).Err()
			}
		}
	}
}

// retryAfter tells whether an error is a denial that says when to come back.
func retryAfter(err error) (after time.Duration, denied bool) {
	s := status.Convert(err)
	if c := s.Code(); c != codes.ResourceExhausted && c != codes.Unavailable {
		return 0, false
	}
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok && info.GetRetryDelay() != nil {
			return max(0, info.GetRetryDelay().AsDuration()), true
		}
	}
	return 0, false
}
