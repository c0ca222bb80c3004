package engine_test

import (
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/local"
	"github.com/weirlimit/weir/memstore"
)

// TestShed: a limit for the service's survival is told from one of the
// caller's.
func TestShed(t *testing.T) {
	clock := memstore.WithClock(func() weir.Micros { return 1_800_000_000 * weir.Second })
	e := start(t, memstore.New(clock), weir.Hooks{}, `
policies:
  - {id: fleet, match: {kind: places}, concurrency: {max: 1, timeout: 30s}, answer: unavailable, on_failure: open}
  - {id: rate, match: {kind: rate}, limits: 1/m, answer: unavailable, on_failure: open}
  - {id: tenants, match: {kind: rate}, by: tenant, limits: 1/h, on_failure: open}
  - {id: quiet, match: {kind: quiet}, limits: 1/m, answer: unavailable, mode: shadow, on_failure: open}
`)
	for _, tt := range []struct {
		name   string
		req    *weir.Request
		rule   string
		reason weir.Reason
		retry  weir.Micros
	}{
		{"places", ask("kind", "places"), "fleet", weir.ReasonShed, weir.Second},
		{"a rate", ask("kind", "rate"), "rate", weir.ReasonShed, weir.Minute},
		{"shadow", ask("kind", "quiet"), "quiet", weir.ReasonNone, 0},
	} {
		tt.req.ID = tt.name
		check(t, e, tt.req)
		tt.req.ID += " again"
		d := check(t, e, tt.req)
		if d.Reason != tt.reason || d.Rule != tt.rule || d.RetryAfter != tt.retry || d.Allowed() != (tt.retry == 0) {
			t.Errorf("%s: %v %v by %q, retry after %v", tt.name, d.Verdict, d.Reason, d.Rule, d.RetryAfter)
		}
	}
	costly := ask("kind", "rate")
	costly.Cost = 2
	if d := check(t, e, costly); d.Reason != weir.ReasonTooCostly || d.RetryAfter != weir.Never {
		t.Errorf("what never passes: %v, %v", d.Reason, d.RetryAfter)
	}
}

// TestShedOrLimited: of two that deny, the one that lasts longest answers.
func TestShedOrLimited(t *testing.T) {
	clock := memstore.WithClock(func() weir.Micros { return 1_800_000_000 * weir.Second })
	e := start(t, memstore.New(clock), weir.Hooks{}, `
policies:
  - {id: fleet, limits: 1/m, answer: unavailable, on_failure: open}
  - {id: tenants, by: tenant, limits: 1/h, on_failure: open}
`)
	check(t, e, ask("tenant", "a"))
	if d := check(t, e, ask("tenant", "a")); d.Reason != weir.ReasonExhausted || d.Rule != "tenants" {
		t.Errorf("got %v by %s", d.Reason, d.Rule)
	}
	if d := check(t, e, ask("tenant", "b")); d.Reason != weir.ReasonShed || d.Rule != "fleet" {
		t.Errorf("got %v by %s", d.Reason, d.Rule)
	}
}

// TestShedFromTheDenyCache: a denial that this node knows of says the same as the
// store's.
func TestShedFromTheDenyCache(t *testing.T) {
	e, err := engine.New(engine.Options{Store: memstore.New(), Local: local.New(local.Options{Denials: 64}), Deadline: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	e.Swap(compile(t, "policies:\n  - {id: fleet, limits: 1/h, answer: unavailable, on_failure: open}\n"))
	for i, want := range []struct {
		reason weir.Reason
		source weir.Source
	}{{weir.ReasonNone, weir.SourceStore}, {weir.ReasonShed, weir.SourceStore}, {weir.ReasonShed, weir.SourceDenyCache}} {
		if d := check(t, e, ask()); d.Reason != want.reason || d.Source != want.source {
			t.Errorf("request %d: %v from %v", i+1, d.Reason, d.Source)
		}
	}
}

// TestShedWaitsForOtherLimits: when the service is full and the tenant's own limit is
// used up, a place alone is no reason to come back.
func TestShedWaitsForOtherLimits(t *testing.T) {
	e := enginetest.New(t, `
policies:
  - {id: tenant, by: tenant, limits: [1/m], on_failure: open}
  - {id: fleet, concurrency: {max: 2, timeout: 1h}, answer: unavailable, on_failure: open}
`, engine.Options{})
	ask := func(id, tenant string) (d weir.Decision) {
		r := weir.Request{Domain: "default", ID: id, Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: tenant}}}}}
		if err := e.Check(t.Context(), &r, &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	if a, b := ask("1", "a"), ask("2", "b"); !a.Allowed() || !b.Allowed() {
		t.Fatal("two places are free")
	}
	if d := ask("3", "c"); d.Reason != weir.ReasonShed || d.RetryAfter != weir.Second {
		t.Errorf("a place is missing: %v, retry after %v", d.Reason, d.RetryAfter.Duration())
	}
	if d := ask("4", "a"); d.Reason != weir.ReasonShed || d.RetryAfter < 30*weir.Second {
		t.Errorf("and so are units: %v, retry after %v", d.Reason, d.RetryAfter.Duration())
	}
}
