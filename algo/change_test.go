package algo_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"pgregory.net/rapid"
)

func TestRaisingALimitFreesTheDifferenceAtOnce(t *testing.T) {
	for _, a := range everyAlgorithm {
		low := meter(t, weir.Limit{Algorithm: a, Count: 100, Window: weir.Day})
		high := meter(t, weir.Limit{Algorithm: a, Count: 200, Window: weir.Day})
		s := algo.State{}
		if o := chargeOne(low, &s, epoch, 100, weir.Enforce, "all"); !o.OK {
			t.Fatalf("%s: the first 100 are denied", a)
		}
		if try(low, s, epoch, 1, "one").OK {
			t.Fatalf("%s: 101 of 100 a day pass", a)
		}
		passed := 0
		for i := range 300 {
			if chargeOne(high, &s, epoch, 1, weir.Enforce, string(rune(1000+i))).OK {
				passed++
			}
		}
		if passed != 100 {
			t.Errorf("%s: 100/d used up and raised to 200/d: %d pass, want 100", a, passed)
		}
	}
}

// TestRaisingFreesExactlyTheDifference is the same for any two limits of a key
// that is full or nearly so.
func TestRaisingFreesExactlyTheDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawLimit(t, everyAlgorithm...), weir.Limit{}
		if isBucket(a.Algorithm) && a.Burst == 0 {
			a.Burst = a.Count
		}
		b = a
		if isBucket(a.Algorithm) { // the capacity alone, at the same rate
			b.Burst = a.Burst + rapid.Int64Range(0, weir.MaxCount-a.Burst).Draw(t, "more")
		} else {
			most := weir.MaxCount
			if a.Algorithm == weir.SlidingLog || a.Algorithm == weir.Concurrency {
				most = weir.MaxLogCount
			}
			b.Count += rapid.Int64Range(0, most-a.Count).Draw(t, "more")
		}
		if b.Validate() != nil {
			t.Skip("drains for more than two years")
		}
		low, high, s := weir.MustMeter(a), weir.MustMeter(b), algo.State{}
		used := rapid.Int64Range(1, low.Capacity).Draw(t, "used")
		left := chargeOne(low, &s, epoch, used, weir.Enforce, "all").Remaining
		o := chargeOne(high, &s, epoch, 0, weir.Peek, "")
		if freed := o.Remaining - left; freed != high.Capacity-low.Capacity {
			t.Fatalf("%v raised to %v: %d freed", a, b, freed)
		}
	})
}

// TestLoweringALimitFreesNothing: at no later instant does the lower limit have
// more room than the one before it had, and it never shows less than 0.
func TestLoweringALimitFreesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, false, everyAlgorithm...)
		l := k.meter.Limit
		if isBucket(l.Algorithm) {
			l.Burst = 1 + (k.meter.Capacity-1)/rapid.Int64Range(1, 100).Draw(t, "burst by")
		}
		l.Count = 1 + (l.Count-1)/rapid.Int64Range(1, 100).Draw(t, "count by")
		if l.Algorithm != weir.FixedWindow {
			more := rapid.Int64Range(0, int64((weir.MaxWindow-l.Window)/weir.Second)).Draw(t, "longer")
			l.Window += weir.Micros(more) * weir.Second
		}
		if l.Validate() != nil {
			t.Skip("drains for more than two years")
		}
		low, lowered, now := weir.MustMeter(l), clone(k.state), k.now
		for range 4 {
			before := chargeOne(k.meter, &k.state, now, 0, weir.Peek, "")
			after := chargeOne(low, &lowered, now, 0, weir.Peek, "")
			if after.Remaining < 0 || after.Remaining > before.Remaining {
				t.Fatalf("%v lowered to %v: %d left, before %d", k.meter.Limit, l, after.Remaining, before.Remaining)
			}
			now += drawStep(t, l, now, after, false)
		}
	})
}

// TestAnotherMachinesStateIsEmpty: it says nothing about this one.
func TestAnotherMachinesStateIsEmpty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, true, everyAlgorithm...)
		other := weir.MustMeter(drawLimit(t, everyAlgorithm...))
		if other.Machine == k.meter.Machine {
			t.Skip("the same machine")
		}
		cost := drawCost(t, other.Capacity, other.Capacity)
		got := try(other, k.state, k.now, cost, "z")
		if want := try(other, algo.State{}, k.now, cost, "z"); got != want {
			t.Fatalf("%v to %v: %d:\n got %+v\nwant %+v", k.meter.Limit, other.Limit, cost, got, want)
		}
	})
}

// TestOnlyAChargeTakesAStateOver: looking under another limit leaves the state
// to the limit it was written under; a charge makes it its own, and dirty.
func TestOnlyAChargeTakesAStateOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, true, everyAlgorithm...)
		other := weir.MustMeter(drawLimit(t, k.meter.Limit.Algorithm))
		if k.state.Used == 0 || other.Mark == k.meter.Mark {
			t.Skip("nothing to take over")
		}
		k.state.Dirty = false
		was, now := dump(k.state), k.now+drawStep(t, k.meter.Limit, k.now, k.last, true)
		cost := drawCost(t, other.Capacity, k.last.Remaining)
		chargeOne(other, &k.state, now, cost, weir.Peek, "")
		chargeOne(other, &k.state, now, 0, drawMode(t, other.Limit), "")
		algo.Decide(other, &k.state, now, 0, algo.Owner{})
		if is := dump(k.state); is != was {
			t.Fatalf("%v seen by %v: from %s to %s", k.meter.Limit, other.Limit, was, is)
		}
		if o := chargeOne(other, &k.state, now, 1, weir.Enforce, "z"); !o.OK {
			return
		}
		if !k.state.Dirty || k.state.Mark != other.Mark {
			t.Fatalf("%v charged under %v: %s", k.meter.Limit, other.Limit, dump(k.state))
		}
	})
}

// TestTwoLimitsWithOneMark: they are taken for one. A fraction that the second
// cannot have is rounded up, so that units are free at most 1 us late.
func TestTwoLimitsWithOneMark(t *testing.T) {
	at := func(count int64) *weir.Meter {
		return meter(t, weir.Limit{Algorithm: weir.GCRA, Count: count, Window: weir.Second})
	}
	byMark, pairs := map[uint16]*weir.Meter{}, 0
	for count := int64(4_001); count > 1; count-- {
		b := at(count)
		a := byMark[b.Mark]
		byMark[b.Mark] = b
		if a == nil || a.Den <= b.Den {
			continue
		}
		s := algo.State{}
		now := epoch
		chargeOne(a, &s, now, a.Capacity, weir.Enforce, "")
		for s.Used > 0 && s.Frac < b.Den { // drain until there is one
			now += a.Limit.Window / weir.Micros(a.Limit.Count)
			chargeOne(a, &s, now, 0, weir.Peek, "")
		}
		if s.Used == 0 {
			continue
		}
		pairs++
		used, whole := s.Used, s.At
		o := chargeOne(b, &s, whole, 1, weir.Peek, "")
		drain := (used*int64(b.Limit.Window) + b.Limit.Count - 1) / b.Limit.Count
		if late := o.ResetAfter - weir.Micros(drain); o.Before.Used != used || late < 0 || late > 1 {
			t.Errorf("%v read as %v: %d of %d units, %d us late", a.Limit, b.Limit, o.Before.Used, used, late)
		}
	}
	if pairs == 0 {
		t.Error("no two limits with one mark")
	}
}

// A limit set by mistake and put right again must not have erased what was used.
func TestLoweringAndRaisingAgainFreesNothing(t *testing.T) {
	year, slow := parse(t, "10000000/365d gcra"), parse(t, "1/365d burst 2")
	s := algo.State{}
	chargeOne(year, &s, epoch, year.Capacity, weir.Enforce, "")
	chargeOne(slow, &s, epoch, 1, weir.Enforce, "") // denied, by a limit set by mistake
	if o := chargeOne(year, &s, epoch, 0, weir.Peek, ""); o.Remaining != 0 {
		t.Errorf("%d of a year's quota are free again", o.Remaining)
	}
}

func TestAFixedWindowMadeShorterEndsWithTheShorterOne(t *testing.T) {
	day, minute := parse(t, "100/d fixed_window"), parse(t, "100/m fixed_window")
	s := algo.State{}
	chargeOne(day, &s, epoch+weir.Hour, 100, weir.Enforce, "")
	if o := try(minute, s, epoch+weir.Hour+weir.Minute, 1, ""); !o.OK {
		t.Errorf("raised from 100/d to 100/m, and denied for %v more", o.RetryAfter.Duration())
	}
}

func TestAFixedWindowMadeLongerHoldsWhatWasUsed(t *testing.T) {
	day, minute := parse(t, "100/d fixed_window"), parse(t, "100/m fixed_window")
	s := algo.State{}
	chargeOne(minute, &s, epoch+weir.Hour, 100, weir.Enforce, "")
	if o := try(day, s, epoch+weir.Hour+weir.Minute, 100, ""); o.OK {
		t.Error("lowered from 100/m to 100/d, and 200 pass in the day")
	}
}
