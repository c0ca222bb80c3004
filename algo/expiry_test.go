package algo_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"pgregory.net/rapid"
)

// TestDroppingAnExpiredStateChangesNothing: from its expiry on, a state answers
// every charge like an empty one, and goes on like one; a microsecond before,
// it does not.
func TestDroppingAnExpiredStateChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, true, everyAlgorithm...)
		expiry := k.state.Expiry(k.meter)
		if expiry == 0 {
			if k.state.Used != 0 {
				t.Fatalf("%v: no expiry with %d units in use", k.meter.Limit, k.state.Used)
			}
			return
		}
		if o := try(k.meter, k.state, expiry-1, 0, "z"); o.Before.Used == 0 {
			t.Fatalf("%v: empty 1 us before its expiry", k.meter.Limit)
		}
		cost := drawCost(t, k.meter.Capacity, k.last.Remaining)
		mode := drawMode(t, k.meter.Limit)
		now := expiry + weir.Micros(rapid.Int64Range(0, int64(k.meter.Limit.Window)).Draw(t, "late"))
		kept, dropped := clone(k.state), algo.State{}
		for i := range 3 {
			a := chargeOne(k.meter, &kept, now, cost, mode, "a")
			b := chargeOne(k.meter, &dropped, now, cost, mode, "a")
			if a != b {
				t.Fatalf("%v: charge %d, %s of %d:\n   kept %+v\ndropped %+v", k.meter.Limit, i, mode, cost, a, b)
			}
			now += drawStep(t, k.meter.Limit, now, a, false)
		}
	})
}

// TestAnUnwrittenDrainIsComputedAgain: a state that is not dirty need not be
// written. Whether it is, makes no difference to what follows.
func TestAnUnwrittenDrainIsComputedAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, false, everyAlgorithm...)
		now := k.now + drawStep(t, k.meter.Limit, k.now, k.last, false)
		k.state.Dirty = false
		written := clone(k.state)
		chargeOne(k.meter, &written, now, 1, weir.Peek, "")
		if written.Dirty {
			t.Fatalf("%v: a peek made the state dirty", k.meter.Limit)
		}
		for range 3 {
			now += drawStep(t, k.meter.Limit, now, k.last, false)
			cost := drawCost(t, k.meter.Capacity, k.last.Remaining)
			a := chargeOne(k.meter, &written, now, cost, weir.Enforce, "z")
			b := chargeOne(k.meter, &k.state, now, cost, weir.Enforce, "z")
			if a != b {
				t.Fatalf("%v: %d at %d:\n  written %+v\nunwritten %+v", k.meter.Limit, cost, now, a, b)
			}
		}
	})
}

// TestPeekFunctionLeavesTheStateAlone and answers what a charge would find.
func TestPeekFunctionLeavesTheStateAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, true, everyAlgorithm...)
		now := k.now + drawStep(t, k.meter.Limit, k.now, k.last, true)
		cost := drawCost(t, k.meter.Capacity, k.last.Remaining)
		before := clone(k.state)
		got, scratch := algo.Peek(k.meter, k.state, now, cost, make([]algo.Run, 0, 8))
		if len(scratch) != 0 {
			t.Fatalf("scratch came back with %d runs", len(scratch))
		}
		if a, b := dump(before), dump(k.state); a != b {
			t.Fatalf("%v: peek changed %s to %s", k.meter.Limit, a, b)
		}
		s := clone(k.state)
		want := chargeOne(k.meter, &s, now, cost, weir.Peek, "")
		if got != want {
			t.Fatalf("%v: peek of %d:\n got %+v\nwant %+v", k.meter.Limit, cost, got, want)
		}
	})
}
