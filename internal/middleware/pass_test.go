package middleware_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/middleware"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
)

// decider is an engine on memory.
func decider(t testing.TB, text string) *engine.Engine {
	t.Helper()
	f, problems := policy.ParseNative("test.yaml", []byte(text))
	if policy.HasErrors(problems) {
		t.Fatal(problems)
	}
	set, _ := policy.Compile([]*policy.File{{Name: "test.yaml", Native: f}}, policy.Options{})
	e, err := engine.New(engine.Options{Store: memstore.New(), Deadline: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	e.Swap(set)
	return e
}

func gate(t testing.TB, c middleware.Config) *middleware.Gate {
	t.Helper()
	if c.OnError == nil {
		c.OnError = func(_ context.Context, err error) { t.Errorf("checker: %v", err) }
	}
	g, err := middleware.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// enter makes a request of one dimension and returns its decision and its end.
func enter(t testing.TB, g *middleware.Gate, name, value string) (weir.Decision, *middleware.Pass) {
	t.Helper()
	p := g.Begin()
	p.Dimension(name, value)
	if err := p.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p.Decision, p
}

func TestEnterAndSpend(t *testing.T) {
	g := gate(t, middleware.Config{Checker: decider(t, "policies:\n  - {id: p, by: [tenant], limits: [10/h], on_failure: open}\n")})
	d, p := enter(t, g, "tenant", "a")
	if !d.Allowed() || d.Remaining != 9 {
		t.Fatalf("got %+v", d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the caller left; what it used is charged all the same
	p.Spend(ctx, 20)
	p.End(ctx)
	if d, p := enter(t, g, "tenant", "a"); d.Allowed() {
		t.Errorf("in debt: %+v", d)
	} else {
		p.End(t.Context())
	}
}

// TestSpendTwice: two messages of one size are two charges, though the request
// has an id.
func TestSpendTwice(t *testing.T) {
	g := gate(t, middleware.Config{Holds: true, Checker: decider(t, "policies:\n  - {id: p, by: [tenant], limits: [10/h], on_failure: open}\n")})
	_, p := enter(t, g, "tenant", "a")
	p.Spend(t.Context(), 3)
	p.Spend(t.Context(), 3)
	if d, _ := enter(t, g, "tenant", "a"); d.Remaining != 2 {
		t.Errorf("1 + 3 + 3 + 1 of 10: %+v", d)
	}
}

func TestHoldsUntilEnd(t *testing.T) {
	g := gate(t, middleware.Config{Holds: true, Checker: decider(t, "policies:\n  - {id: p, by: [tenant], concurrency: 1, on_failure: open}\n")})
	one, p := enter(t, g, "tenant", "a")
	two, q := enter(t, g, "tenant", "a")
	q.End(t.Context()) // of a denial: releases nothing of the other's
	three, q := enter(t, g, "tenant", "a")
	q.End(t.Context())
	if !one.Allowed() || two.Allowed() || three.Allowed() {
		t.Errorf("got %v %v %v", one.Verdict, two.Verdict, three.Verdict)
	}
	p.End(t.Context())
	if four, _ := enter(t, g, "tenant", "a"); !four.Allowed() {
		t.Error("nothing was released")
	}
}

// still is an engine whose store's clock stands.
func still(t testing.TB, text string) *engine.Engine {
	t.Helper()
	e, err := engine.New(engine.Options{
		Deadline: time.Second,
		Store:    memstore.New(memstore.WithClock(func() weir.Micros { return weir.MicrosAt(time.Unix(1_800_000_000, 0)) })),
	})
	if err != nil {
		t.Fatal(err)
	}
	e.Swap(decider(t, text).Set())
	return e
}

const leaky = "policies:\n  - {id: p, by: [tenant], limits: [50/s burst 5 leaky_bucket], on_failure: open}\n"

// TestWaits: the first goes on at once, the second 20 ms later; the third would
// have to wait for 40, and gives its place back.
func TestWaits(t *testing.T) {
	e := still(t, leaky)
	g := gate(t, middleware.Config{Checker: e, MaxDelay: 30 * time.Millisecond})
	for i, want := range []time.Duration{0, 20 * time.Millisecond, 0} {
		began := time.Now()
		d, p := enter(t, g, "tenant", "a")
		if time.Since(began) < want || d.Allowed() != (i < 2) {
			t.Errorf("request %d after %v: %+v", i, time.Since(began), d)
		}
		if i == 2 && d.RetryAfter != 10*weir.Millisecond {
			t.Errorf("retry after %v", d.RetryAfter)
		}
		p.End(t.Context())
	}
	if d, _ := enter(t, gate(t, middleware.Config{Checker: e, MaxDelay: -1}), "tenant", "a"); d.Delay != 40*weir.Millisecond {
		t.Errorf("the third gave nothing back: %+v", d)
	}
}

// TestCallerLeavesTheQueue: whoever leaves while it waits gives its place back.
func TestCallerLeavesTheQueue(t *testing.T) {
	e := still(t, "policies:\n  - {id: p, by: [tenant], limits: [1/m burst 5 leaky_bucket], on_failure: open}\n")
	g := gate(t, middleware.Config{Checker: e, MaxDelay: time.Hour})
	enter(t, g, "tenant", "a")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	p := g.Begin()
	p.Dimension("tenant", "a")
	if err := p.Enter(ctx); weir.CodeOf(err) != weir.CodeTimeout {
		t.Errorf("got %v", err)
	}
	if d, _ := enter(t, gate(t, middleware.Config{Checker: e, MaxDelay: -1}), "tenant", "a"); d.Delay != weir.Minute {
		t.Errorf("its place is taken: %+v", d)
	}
}

// broken fails as told.
type broken struct{ err error }

func (b broken) Check(context.Context, *weir.Request, *weir.Decision) error { return b.err }

func TestFailModes(t *testing.T) {
	for _, tc := range []struct {
		name   string
		err    *weir.Error
		closed bool
		want   weir.Verdict // 0: Enter returns the error
	}{
		{"open", &weir.Error{Code: weir.CodeRefused}, false, weir.Allow},
		{"closed", &weir.Error{Code: weir.CodeRefused}, true, weir.Deny},
		{"a policy is gone", &weir.Error{Code: weir.CodePolicyNotFound}, false, weir.Allow},
		{"a dimension is missing", &weir.Error{Code: weir.CodeInvalid, Field: "tenant"}, false, 0},
		{"an id is missing", &weir.Error{Code: weir.CodeInvalid, Field: "id"}, false, weir.Allow},
	} {
		told := 0
		g := gate(t, middleware.Config{
			Checker: broken{tc.err}, FailClosed: tc.closed,
			OnError: func(context.Context, error) { told++ },
		})
		p := g.Begin()
		err := p.Enter(t.Context())
		if d := &p.Decision; err == nil && (d.Verdict != tc.want || d.Reason != weir.ReasonDegraded) || (err == nil) != (tc.want != 0) || told != 1 {
			t.Errorf("%s: %+v, %v, told %d times", tc.name, d, err, told)
		}
		p.End(t.Context())
	}
}

// TestNoValueIsAWayAround: what a server would refuse is sent as a digest.
func TestNoValueIsAWayAround(t *testing.T) {
	g := gate(t, middleware.Config{Checker: decider(t, "policies:\n  - {id: p, by: [key], limits: [1/h], on_failure: open}\n")})
	for _, value := range []string{strings.Repeat("x", 257), strings.Repeat("y", 5000), "\xff\xfe"} {
		one, _ := enter(t, g, "key", value)
		two, p := enter(t, g, "key", value)
		if !one.Allowed() || two.Allowed() || len(p.Request.Descriptors[0].Pairs[0].Value) > middleware.MaxValueBytes {
			t.Errorf("%.10q: %v, %v", value, one.Verdict, two.Verdict)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	if _, err := middleware.New(middleware.Config{}); weir.CodeOf(err) != weir.CodeInvalid {
		t.Errorf("no checker: %v", err)
	}
	if _, err := middleware.New(middleware.Config{Checker: broken{}, Holds: true}); weir.CodeOf(err) != weir.CodeInvalid {
		t.Errorf("cannot release: %v", err)
	}
}

func TestEnterDoesNotAllocate(t *testing.T) {
	g := gate(t, middleware.Config{Checker: decider(t, "policies:\n  - {id: p, by: [tenant], limits: [10/h], on_failure: open}\n")})
	ctx := t.Context()
	if n := testing.AllocsPerRun(200, func() {
		p := g.Begin()
		p.Dimension("tenant", "a")
		_ = p.Enter(ctx)
		p.End(ctx)
	}); n > 0 && !raceEnabled {
		t.Errorf("%v allocations", n)
	}
}
