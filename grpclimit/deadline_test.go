package grpclimit_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/grpclimit"
)

// slow is a checker that denies, given time: with less it gives up and lets
// pass, as a client of a server does whose policy fails open.
type slow struct{}

func (slow) Check(ctx context.Context, _ *weir.Request, d *weir.Decision) error {
	const takes = 2 * time.Millisecond
	*d = weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonExhausted}
	wait := takes
	if at, ok := ctx.Deadline(); ok && time.Until(at) < takes {
		wait = time.Until(at) / 2
		*d = weir.Decision{Verdict: weir.Allow, Reason: weir.ReasonDegraded}
	}
	time.Sleep(wait)
	return nil
}

// TestDeadlineIsNoWayAround: a caller who gives little time is not let pass for
// it.
func TestDeadlineIsNoWayAround(t *testing.T) {
	one := "policies:\n  - {id: p, by: [tenant], limits: [1/h], on_failure: open}\n"
	for name, c := range map[string]weir.Checker{"slow": slow{}, "elsewhere": remote(t, one), "here": decider(t, one)} {
		l := grpclimit.New(c, grpclimit.WithDimensions(grpclimit.Constant("tenant", "a")))
		info := &grpc.UnaryServerInfo{FullMethod: unaryMethod}
		ran := 0
		handler := func(context.Context, any) (any, error) { ran++; return nil, nil }
		if _, err := l.Unary(t.Context(), nil, info, handler); name != "slow" && err != nil {
			t.Fatal(err)
		}
		ran = 0
		for i := range 100 {
			span := []time.Duration{200, 500, 1000, 2000, 5000}[i%5] * time.Microsecond
			ctx, cancel := context.WithTimeout(t.Context(), span)
			if _, err := l.Unary(ctx, nil, info, handler); err == nil {
				t.Errorf("%s: a call of %v was allowed", name, span)
			}
			cancel()
		}
		if ran != 0 {
			t.Errorf("%s: %d calls ran", name, ran)
		}
	}
}
