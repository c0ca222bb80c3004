package grpclimit_test

import (
	"context"
	"testing"

	"google.golang.org/grpc"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/grpclimit"
)

// TestPanickingDenial: a call that would wait too long is charged nothing, and
// holds nothing, also when WithDenial panics.
func TestPanickingDenial(t *testing.T) {
	e := decider(t, "policies:\n  - {id: p, by: [tenant], limits: [1/h burst 10 leaky_bucket, 5 concurrency 60s], on_failure: open}\n")
	l := grpclimit.New(e, grpclimit.WithDimensions(grpclimit.Constant("tenant", "a")), grpclimit.WithMaxDelay(0), grpclimit.WithConcurrency(),
		grpclimit.WithoutHeaders(), grpclimit.WithDenial(func(context.Context, *grpclimit.Call, *weir.Decision) error { panic("broken") }))
	used := func() (n [2]int64) {
		u, _, err := e.Usage(t.Context(), &weir.Request{Domain: "default", Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "a"}}}}})
		if err != nil || len(u) != 2 {
			t.Fatalf("%v %v", u, err)
		}
		return [2]int64{u[0].Outcome.Before.Used, u[1].Outcome.Before.Used}
	}
	call := func() {
		defer func() { _ = recover() }()
		_, _ = l.Unary(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: "/a/B"}, func(context.Context, any) (any, error) { return nil, nil })
	}
	call()
	before := used()
	call()
	if after := used(); after != before {
		t.Errorf("in use %v before the denial, %v after it", before, after)
	}
}
