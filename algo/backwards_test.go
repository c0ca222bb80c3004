package algo_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"pgregory.net/rapid"
)

// TestTimeGoingBackCreatesNothing: an earlier instant has no more room than the
// later one had.
func TestTimeGoingBackCreatesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, true, everyAlgorithm...)
		now := k.now + drawStep(t, k.meter.Limit, k.now, k.last, false)
		there := chargeOne(k.meter, &k.state, now, 0, weir.Peek, "")
		for range 4 {
			now -= max(1, drawStep(t, k.meter.Limit, now, there, false))
			now = max(now, epoch-4*k.meter.Limit.Window)
			back := chargeOne(k.meter, &k.state, now, 0, weir.Peek, "")
			if back.Remaining > there.Remaining {
				t.Fatalf("%v: %d left, and %d after going back to %d", k.meter.Limit, there.Remaining, back.Remaining, now)
			}
		}
	})
}

// TestAClockThatSwingsSuppliesByItsForwardMoves: the bound holds on the odometer
// of the clock, which adds up the moves forward and knows none back. A charge
// is freed by nothing but moving forward.
func TestAClockThatSwingsSuppliesByItsForwardMoves(t *testing.T) {
	swing := func(t *rapid.T, m *weir.Meter) []event {
		var admitted []event
		s, now, odometer := algo.State{}, epoch, weir.Micros(0)
		last := weir.Outcome{Remaining: m.Capacity}
		for range 60 {
			step := drawStep(t, m.Limit, now, last, false)
			if rapid.Bool().Draw(t, "back") {
				now = max(now-step, epoch-4*m.Limit.Window)
			} else {
				now, odometer = now+step, odometer+step
			}
			last = algo.Decide(m, &s, now, drawCost(t, m.Capacity, last.Remaining), algo.Owner{})
			if last.Granted > 0 {
				admitted = append(admitted, event{odometer, last.Granted})
			}
		}
		return admitted
	}
	t.Run("gcra", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			m := weir.MustMeter(drawLimit(t, weir.GCRA, weir.LeakyBucket))
			atMost(t, m.Limit, swing(t, m), m.Capacity, 0)
		})
	})
	t.Run("sliding", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			m := weir.MustMeter(drawLimit(t, weir.SlidingWindow, weir.SlidingLog))
			bound := m.Limit.Count + m.RunCap - 1
			if most := rolling(swing(t, m)).Most(m.Limit.Window); most > bound {
				t.Fatalf("%v: %d units within one window of moving forward, more than %d", m.Limit, most, bound)
			}
		})
	})
}

// TestAFixedWindowIsFreedByItsEdgeOnly: it is filled once for each time the
// clock moves forward over an edge, however it swings between.
func TestAFixedWindowIsFreedByItsEdgeOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, s := weir.MustMeter(drawLimit(t, weir.FixedWindow)), algo.State{}
		now, last := epoch, weir.Outcome{Remaining: m.Capacity}
		sum, fills := int64(0), int64(1)
		for range 60 {
			step := drawStep(t, m.Limit, now, last, false)
			if rapid.Bool().Draw(t, "back") {
				now = max(now-step, epoch-4*m.Limit.Window)
			} else {
				if now/m.Limit.Window != (now+step)/m.Limit.Window {
					fills++
				}
				now += step
			}
			last = algo.Decide(m, &s, now, drawCost(t, m.Capacity, last.Remaining), algo.Owner{})
			if sum += last.Granted; sum > fills*m.Limit.Count {
				t.Fatalf("%v: %d units with %d windows entered", m.Limit, sum, fills)
			}
		}
	})
}
