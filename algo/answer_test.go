package algo_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"pgregory.net/rapid"
)

// TestRetryAfterIsExact: who was denied is denied until the microsecond that
// was named, and admitted then.
func TestRetryAfterIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, true, everyAlgorithm...)
		cost := drawCost(t, k.meter.Capacity, k.last.Remaining)
		now := k.now + drawStep(t, k.meter.Limit, k.now, k.last, true)
		o := try(k.meter, k.state, now, cost, "z")
		switch {
		case o.OK && o.RetryAfter != 0:
			t.Fatalf("%v: %d fits, and is told to retry after %d", k.meter.Limit, cost, o.RetryAfter)
		case o.OK:
			return
		case cost > k.meter.Capacity:
			if o.RetryAfter != weir.Never {
				t.Fatalf("%v: %d can never pass, retry after %d", k.meter.Limit, cost, o.RetryAfter)
			}
			return
		case o.RetryAfter <= 0:
			t.Fatalf("%v: %d denied, retry after %d", k.meter.Limit, cost, o.RetryAfter)
		}
		if early := try(k.meter, k.state, now+o.RetryAfter-1, cost, "z"); early.OK {
			t.Fatalf("%v: %d at %d passes before its retry after %d", k.meter.Limit, cost, now, o.RetryAfter)
		} else if early.RetryAfter != 1 {
			t.Fatalf("%v: %d at %d, 1 us before its retry, is told %d", k.meter.Limit, cost, now, early.RetryAfter)
		}
		if !try(k.meter, k.state, now+o.RetryAfter, cost, "z").OK {
			t.Fatalf("%v: %d at %d is denied after its retry of %d", k.meter.Limit, cost, now, o.RetryAfter)
		}
	})
}

// TestRemainingIsWhatPassesNow: remaining 0 means the next unit is denied, and r
// means that r units pass, at once or one by one, and no more.
func TestRemainingIsWhatPassesNow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, true, everyAlgorithm...)
		now := k.now + drawStep(t, k.meter.Limit, k.now, k.last, true)
		left := try(k.meter, k.state, now, 0, "z").Remaining
		if left < 0 || left > k.meter.Capacity {
			t.Fatalf("%v: %d left", k.meter.Limit, left)
		}
		if left > 0 {
			if o := try(k.meter, k.state, now, left, "z"); !o.OK || o.Remaining != 0 {
				t.Fatalf("%v: %d left, and taking them: %+v", k.meter.Limit, left, o)
			}
		}
		if try(k.meter, k.state, now, left+1, "z").OK {
			t.Fatalf("%v: %d left, and one more passes", k.meter.Limit, left)
		}
		s := clone(k.state)
		for i := range min(left, 20) {
			o := chargeOne(k.meter, &s, now, 1, weir.Enforce, string(rune('A'+i)))
			if !o.OK || o.Remaining != left-i-1 {
				t.Fatalf("%v: %d left, unit %d: %+v", k.meter.Limit, left, i+1, o)
			}
		}
	})
}

// TestResetAfterIsExact: nothing is in use then, and something is before.
func TestResetAfterIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, true, everyAlgorithm...)
		o := try(k.meter, k.state, k.now, 0, "z")
		if (o.ResetAfter == 0) != (o.Before.Used == 0) {
			t.Fatalf("%v: %d in use, reset after %d", k.meter.Limit, o.Before.Used, o.ResetAfter)
		}
		if o.ResetAfter == 0 {
			return
		}
		if used := try(k.meter, k.state, k.now+o.ResetAfter-1, 0, "z").Before.Used; used == 0 {
			t.Fatalf("%v: reset 1 us before it was promised", k.meter.Limit)
		}
		if used := try(k.meter, k.state, k.now+o.ResetAfter, 0, "z").Before.Used; used != 0 {
			t.Fatalf("%v: %d in use after the reset", k.meter.Limit, used)
		}
	})
}

// TestACostOfZeroChangesNothing, and always fits.
func TestACostOfZeroChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, true, everyAlgorithm...)
		mode := drawMode(t, k.meter.Limit)
		s := clone(k.state)
		s.Dirty = false
		o := chargeOne(k.meter, &s, k.now, 0, mode, "a")
		if !o.OK || o.Granted != 0 || o.Delay != 0 || o.RetryAfter != 0 || s.Dirty {
			t.Fatalf("%v: %s of 0: %+v, dirty %v", k.meter.Limit, mode, o, s.Dirty)
		}
		if o.Before.Used != s.Used {
			t.Fatalf("%v: %s of 0 changed %d to %d units", k.meter.Limit, mode, o.Before.Used, s.Used)
		}
	})
}
