package local_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/local"
)

const hourly = "policies:\n  - {id: tenants, by: [tenant], limits: [%d/h gcra], on_failure: closed}\n"

// on returns an engine on memory, with a tier or without.
func on(t testing.TB, limit int, tier bool) *engine.Engine {
	o := engine.Options{}
	if tier {
		o.Local = local.New(local.Options{Denials: local.DefaultDenials})
	}
	return enginetest.New(t, fmt.Sprintf(hourly, limit), o)
}

// BenchmarkDeniedCached is a denial through the engine that no store is asked
// for; a call a second is.
func BenchmarkDeniedCached(b *testing.B) {
	e := on(b, 1, true)
	check(b, e, ask("tenant", "a"))
	check(b, e, ask("tenant", "a"))
	r, d := ask("tenant", "a"), weir.Decision{}
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Check(context.Background(), r, &d); err != nil || d.Allowed() {
			b.Fatal(err, d)
		}
	}
}

// BenchmarkAllowed is what the tier costs those that it does not answer: none of
// it, one that denies nothing, and one that denies somebody else.
func BenchmarkAllowed(b *testing.B) {
	for _, c := range []struct {
		name          string
		tier, another bool
	}{{"none", false, false}, {"quiet", true, false}, {"another-denied", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			e := on(b, 10_000_000, c.tier)
			r, d, ctx := ask("tenant", "a"), weir.Decision{}, context.Background()
			other := ask("tenant", "b")
			other.Cost = 10_000_001
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				if i++; c.another && i%(1<<18) == 1 { // some ten times a second
					_ = e.Check(ctx, other, &d)
				}
				if err := e.Check(ctx, r, &d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A request of which nothing is known still meets the limits for all.
func TestNoDescriptors(t *testing.T) {
	e := enginetest.New(t, "policies:\n  - {id: all, limits: [1/h], on_failure: closed}\n",
		engine.Options{Local: local.New(local.Options{Denials: 10})})
	var sources []weir.Source
	for i := range 3 {
		d := check(t, e, &weir.Request{Domain: "default", Cost: 1})
		if sources = append(sources, d.Source); d.Allowed() != (i == 0) {
			t.Errorf("request %d: %+v", i, d)
		}
	}
	if sources[2] != weir.SourceDenyCache {
		t.Errorf("answers from %v", sources)
	}
}

// Units that were spent are counted, whatever is known.
func TestSpentIsCounted(t *testing.T) {
	e := enginetest.New(t, "policies:\n  - {id: tenants, by: [tenant], limits: [2/h fixed_window], on_failure: closed}\n",
		engine.Options{Local: local.New(local.Options{Denials: 10})})
	spent := ask("tenant", "a")
	spent.Descriptors[0].Spent = true
	for range 5 {
		if d := check(t, e, spent); d.Source != weir.SourceStore {
			t.Fatalf("%+v", d)
		}
	}
	if d := check(t, e, ask("tenant", "a")); d.Source != weir.SourceDenyCache || d.Allowed() {
		t.Fatalf("%+v", d)
	}
	used, _, err := e.Usage(context.Background(), ask("tenant", "a"))
	if err != nil || len(used) != 1 || used[0].Outcome.Before.Used != 5 {
		t.Errorf("%+v, %v", used, err)
	}
}
