package engine_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/policy"
)

// TestTwoLimitsMeetInOneCounter: of two descriptors that count in one, each under a
// limit of its own, the tighter holds, whichever comes first.
func TestTwoLimitsMeetInOneCounter(t *testing.T) {
	pairs := func(plan string, own int64) weir.Descriptor {
		d := weir.Descriptor{Pairs: []weir.Pair{{Name: "tenant", Value: "a"}, {Name: "plan", Value: plan}}}
		if own > 0 {
			d.Limit = weir.MustMeter(weir.Limit{Algorithm: weir.FixedWindow, Count: own, Window: weir.Hour})
		}
		return d
	}
	for _, c := range []struct {
		name         string
		engine       func() *engine.Engine
		large, small weir.Descriptor
	}{
		{"plans", func() *engine.Engine {
			return enginetest.New(t, "domain: d\npolicies:\n  - {id: p, by: tenant, limits: [100/m], plans: {small: [4/m]}, on_failure: open}\n", engine.Options{})
		}, pairs("big", 0), pairs("small", 0)},
		{"limits of the request", func() *engine.Engine {
			return enginetest.NewEnvoy(t, "domain: d\ndescriptors:\n  - {key: tenant, rate_limit: {unit: hour, requests_per_unit: 5}}\n", policy.Options{}, engine.Options{})
		}, pairs("x", 100), pairs("x", 4)},
	} {
		for _, ds := range [][]weir.Descriptor{{c.large, c.small}, {c.small, c.large}} {
			e := c.engine()
			r, d, passed := weir.Request{Domain: "d", Descriptors: ds}, weir.Decision{}, 0
			for range 5 {
				if err := e.Check(t.Context(), &r, &d); err != nil {
					t.Fatal(err)
				}
				if d.Allowed() {
					passed++
				}
			}
			if passed != 2 || d.Limit.Count != 4 {
				t.Errorf("%s: %d passed, each of them two units, denied by %v", c.name, passed, d.Limit)
			}
		}
	}
}

// TestTwoLimitsMeetAsEnvoyCounts: with Envoy's counting each of two descriptors is told
// of its own limit, and what those before it counted.
func TestTwoLimitsMeetAsEnvoyCounts(t *testing.T) {
	own := func(n int64) weir.Descriptor {
		return weir.Descriptor{
			Pairs: []weir.Pair{{Name: "tenant", Value: "a"}},
			Limit: weir.MustMeter(weir.Limit{Algorithm: weir.FixedWindow, Count: n, Window: weir.Hour}),
		}
	}
	for _, c := range []struct {
		first, second int64
		passed        int
	}{
		{100, 5, 2}, {5, 100, 3}, {5, 5, 2},
	} {
		e := enginetest.NewEnvoy(t, "domain: d\ndescriptors:\n  - {key: tenant, rate_limit: {unit: hour, requests_per_unit: 5}}\n",
			policy.Options{EnvoyCompat: true}, engine.Options{})
		passed := 0
		for i := range int64(4) {
			r, d := weir.Request{Domain: "d", Descriptors: []weir.Descriptor{own(c.first), own(c.second)}}, weir.Decision{}
			if err := e.Check(t.Context(), &r, &d); err != nil {
				t.Fatal(err)
			}
			ok := true
			for j, told := range d.Charges {
				used := 2*i + int64(j) + 1
				ok = ok && told.Outcome.OK
				if most := told.Limit.Count; told.Outcome.OK != (used <= most) || told.Outcome.Remaining != max(0, most-used) {
					t.Errorf("%d and %d, request %d, descriptor %d: %+v", c.first, c.second, i+1, j+1, told.Outcome)
				}
			}
			if d.Allowed() != ok {
				t.Errorf("%d and %d, request %d: %v", c.first, c.second, i+1, d.Verdict)
			}
			if d.Allowed() {
				passed++
			}
		}
		if passed != c.passed {
			t.Errorf("%d and %d: %d passed", c.first, c.second, passed)
		}
	}
}

// TestLooksMeetCostsAsEnvoyCounts: a descriptor that costs nothing beside one that
// costs all shares its counter, and takes nothing from the other's verdict.
func TestLooksMeetCostsAsEnvoyCounts(t *testing.T) {
	own := func(limit, cost int64) weir.Descriptor {
		d := weir.Descriptor{Pairs: []weir.Pair{{Name: "tenant", Value: "a"}}, Cost: cost, HasCost: true}
		if limit > 0 {
			d.Limit = weir.MustMeter(weir.Limit{Algorithm: weir.FixedWindow, Count: limit, Window: weir.Hour})
		}
		return d
	}
	for _, c := range []struct {
		name   string
		before int64
		asked  []weir.Descriptor
		ok     []bool
	}{
		{"a look first", 3, []weir.Descriptor{own(0, 0), own(0, 1)}, []bool{true, false}},
		{"a look last", 3, []weir.Descriptor{own(0, 1), own(0, 0)}, []bool{false, false}},
		{"two looks", 3, []weir.Descriptor{own(0, 0), own(0, 0), own(0, 1)}, []bool{true, true, false}},
		{"a cost that never fits", 0, []weir.Descriptor{own(0, 0), own(0, 5)}, []bool{true, false}},
		{"a look at a tighter limit", 0, []weir.Descriptor{own(1, 0), own(5, 3)}, []bool{true, true}},
		{"a look at a wider limit", 0, []weir.Descriptor{own(5, 0), own(1, 3)}, []bool{true, false}},
		{"only looks", 3, []weir.Descriptor{own(1, 0), own(5, 0)}, []bool{false, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := enginetest.NewEnvoy(t, "domain: d\ndescriptors:\n  - {key: tenant, rate_limit: {unit: hour, requests_per_unit: 3}}\n",
				policy.Options{EnvoyCompat: true}, engine.Options{})
			r, d := weir.Request{Domain: "d"}, weir.Decision{}
			if first := c.asked[0].Limit; c.before > 0 {
				limit := int64(0)
				if first != nil {
					limit = 100 // the counter of limits that come along
				}
				r.Descriptors = []weir.Descriptor{own(limit, c.before)}
				if err := e.Check(t.Context(), &r, &d); err != nil || !d.Allowed() {
					t.Fatal(err, d.Verdict)
				}
			}
			r.Descriptors = c.asked
			if err := e.Check(t.Context(), &r, &d); err != nil {
				t.Fatal(err)
			}
			all := true
			for i, want := range c.ok {
				all = all && want
				if got := d.Charges[i].Outcome.OK; got != want {
					t.Errorf("descriptor %d: %v", i+1, got)
				}
			}
			if d.Allowed() != all {
				t.Errorf("verdict %v", d.Verdict)
			}
		})
	}
}
