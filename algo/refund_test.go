package algo_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"pgregory.net/rapid"
)

// TestRefundIsFlooredAtEmpty: no more is given back than was in use.
func TestRefundIsFlooredAtEmpty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, true, everyAlgorithm[:6]...) // concurrency releases by owner
		n := drawCost(t, k.meter.Capacity, k.last.Before.Used)
		o := chargeOne(k.meter, &k.state, k.now, n, weir.Refund, "")
		if !o.OK || o.Granted != min(n, o.Before.Used) || k.state.Used != o.Before.Used-o.Granted {
			t.Fatalf("%v: refund of %d with %d in use: %+v, then %d", k.meter.Limit, n, o.Before.Used, o, k.state.Used)
		}
		if o.Remaining > k.meter.Capacity {
			t.Fatalf("%v: %d left of %d", k.meter.Limit, o.Remaining, k.meter.Capacity)
		}
	})
}

// TestRefundUndoesItsCharge: what was taken and given back at one instant
// leaves the answers as they were.
func TestRefundUndoesItsCharge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, false, everyAlgorithm...)
		chargeOne(k.meter, &k.state, k.now, 0, weir.Peek, "")
		s := clone(k.state)
		cost := drawCost(t, k.meter.Capacity, k.last.Remaining)
		o := chargeOne(k.meter, &s, k.now, cost, weir.Enforce, "z")
		if !o.OK || cost == 0 {
			return
		}
		if got := refund(k.meter, &s, k.now, cost, "z"); got != cost {
			t.Fatalf("%v: %d of %d refunded", k.meter.Limit, got, cost)
		}
		now := k.now
		for range 3 {
			a, b := try(k.meter, k.state, now, cost, "z"), try(k.meter, s, now, cost, "z")
			if a != b {
				t.Fatalf("%v: %d charged and refunded, %d us later:\n   was %+v\nbecame %+v", k.meter.Limit, cost, now-k.now, a, b)
			}
			now += drawStep(t, k.meter.Limit, now, a, false)
		}
	})
}

// TestReleaseIsByOwner: who holds nothing gives nothing back.
func TestReleaseIsByOwner(t *testing.T) {
	m, s := parse(t, "10 concurrency 30s"), algo.State{}
	for i, id := range []string{"a", "b", "c"} {
		chargeOne(m, &s, epoch+weir.Micros(i), int64(i)+1, weir.Enforce, id)
	}
	for _, step := range []struct {
		id          string
		gives, used int64
	}{{"x", 0, 6}, {"b", 2, 4}, {"b", 0, 4}, {"", 0, 4}, {"c", 3, 1}, {"a", 1, 0}, {"a", 0, 0}} {
		if got := refund(m, &s, epoch+10, 1, step.id); got != step.gives || s.Used != step.used {
			t.Errorf("release by %q: gave %d, %d in use; want %d, %d", step.id, got, s.Used, step.gives, step.used)
		}
	}
}
