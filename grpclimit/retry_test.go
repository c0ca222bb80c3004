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

// denies is an error that says when to come back; below 0, none.
func denies(code codes.Code, after time.Duration) error {
	s := status.New(code, "no")
	if after >= 0 {
		s, _ = s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(after)})
	}
	return s.Err()
}

func TestRetry(t *testing.T) {
	second := denies(codes.ResourceExhausted, time.Second)
	for name, tc := range map[string]struct {
		answers []error // the last stays
		within  time.Duration
		calls   int
		want    codes.Code
		least   time.Duration
	}{
		"served":            {[]error{nil}, 0, 1, codes.OK, 0},
		"denied once":       {[]error{second, nil}, 0, 2, codes.OK, time.Second},
		"denied for good":   {[]error{second}, 0, 3, codes.ResourceExhausted, 2 * time.Second},
		"closed":            {[]error{denies(codes.Unavailable, time.Second), nil}, 0, 2, codes.OK, time.Second},
		"at once":           {[]error{denies(codes.ResourceExhausted, 0), nil}, 0, 2, codes.OK, 0},
		"too long":          {[]error{denies(codes.ResourceExhausted, time.Minute)}, 0, 1, codes.ResourceExhausted, 0},
		"without a word":    {[]error{denies(codes.ResourceExhausted, -1)}, 0, 1, codes.ResourceExhausted, 0},
		"another error":     {[]error{denies(codes.Internal, time.Second)}, 0, 1, codes.Internal, 0},
		"past the deadline": {[]error{second}, 900 * time.Millisecond, 1, codes.ResourceExhausted, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			if tc.within > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, tc.within)
				defer cancel()
			}
			calls := 0
			invoke := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
				calls++
				return tc.answers[min(calls, len(tc.answers))-1]
			}
			began := time.Now()
			err := grpclimit.Retry(3, 10*time.Second)(ctx, "/m", nil, nil, nil, invoke)
			took := time.Since(began)
			if status.Code(err) != tc.want || calls != tc.calls || took < tc.least || took > tc.least+tc.least/5 {
				t.Errorf("%s: %v after %d calls and %v", name, err, calls, took)
			}
		})
	}
}

// TestRetryOfACallerWhoLeaves ends with the context, not with the wait.
func TestRetryOfACallerWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(300*time.Millisecond, cancel)
		invoke := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			return denies(codes.ResourceExhausted, time.Second)
		}
		began := time.Now()
		if err := grpclimit.Retry(3, time.Minute)(ctx, "/m", nil, nil, nil, invoke); status.Code(err) != codes.Canceled || time.Since(began) != 300*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

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
