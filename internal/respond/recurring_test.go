package respond_test

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/respond"
)

// TestRecurring: whatever was answered before, the fields are those that Fields
// sets.
func TestRecurring(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 2))
	limits := []string{"100/m", "100/s burst 200", "20 concurrency 30s", "5/h fixed_window"}
	pick := func() weir.Charged {
		c := charged(t, []string{"api", `te"nant`, "global"}[source.IntN(3)], limits[source.IntN(len(limits))], true)
		if source.IntN(4) == 0 {
			c.Mode = weir.Shadow
		}
		return c
	}
	families := map[respond.Family][]string{
		respond.Standard: {"Ratelimit", "Ratelimit-Policy"},
		respond.Legacy:   {"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"},
	}
	all := [3]respond.Recurring{{Only: respond.Both}, {Only: respond.Standard}, {Only: respond.Legacy}}
	learnt := 0
	for i := range 20_000 {
		charges := []weir.Charged{pick()}
		for source.IntN(3) == 0 {
			charges = append(charges, pick())
		}
		binding := charges[source.IntN(len(charges))]
		d := &weir.Decision{
			Verdict: weir.Allow, Rule: binding.Rule, Limit: binding.Limit, Remaining: source.Int64N(300) - 1,
			ResetAfter: weir.Micros(source.Int64N(int64([]weir.Micros{weir.Hour, 2 * weir.Second}[source.IntN(2)]))), Charges: charges, RuleIndex: int32(source.IntN(3)),
			Scope: []string{"", "tenant", "é"}[source.IntN(3)],
		}
		switch source.IntN(8) {
		case 0:
			d.Verdict, d.RetryAfter = weir.Deny, weir.Micros(source.Int64N(int64(weir.Minute)))
		case 1:
			d.Verdict, d.RetryAfter = weir.Deny, weir.Never
		case 2:
			d.Charges, d.Limit, d.Rule = nil, weir.Limit{}, ""
		case 3:
			d.Reason, d.Source = weir.ReasonDegraded, weir.SourceBackstop
		}
		a := respond.To(d, now, nil)
		var f respond.Fields
		f.Fill(&a)
		want, have := http.Header{}, http.Header{}
		f.Set(want)
		r := &all[source.IntN(len(all))]
		r.Set(&a, have)
		if names := families[r.Only]; names != nil && d.Verdict == weir.Allow {
			maps.DeleteFunc(want, func(key string, _ []string) bool { return !slices.Contains(names, key) })
		}
		if !maps.EqualFunc(have, want, slices.Equal) {
			t.Fatalf("answer %d: %v, want %v", i, have, want)
		}
		for key, v := range have {
			if cap(v) != 1 {
				t.Fatalf("%s has room for a value of the next field", key)
			}
		}
		learnt += len(have)
	}
	if learnt == 0 {
		t.Error("nothing was set")
	}
}

func TestRecurringAllocatesLittle(t *testing.T) {
	d := allowed(t, "api", "100/m", 99, charged(t, "api", "100/m", true))
	d.Scope = "tenant"
	var r respond.Recurring
	h := http.Header{}
	if n := testing.AllocsPerRun(100, func() {
		a := respond.To(d, now, nil)
		r.Set(&a, h)
	}); n > 1 { // an average, rounded down
		t.Errorf("%v allocations", n)
	}
}
