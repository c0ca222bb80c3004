package grpclimit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/weirlimit/weir/grpclimit"
)

// TestRetryWaitsAtMost: no wait is longer than the longest, chance included.
func TestRetryWaitsAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := status.New(codes.ResourceExhausted, "x").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(2 * time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		invoke := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return s.Err() }
		for range 50 {
			began := time.Now()
			_ = grpclimit.Retry(2, 2*time.Second)(t.Context(), "/a/B", nil, nil, nil, invoke)
			if waited := time.Since(began); waited > 2*time.Second {
				t.Fatalf("waited %v, and 2s were the most", waited)
			}
		}
	})
}
