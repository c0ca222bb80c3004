package algo_test

import (
	"math/big"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"github.com/weirlimit/weir/internal/oracle"
)

// awkward are rates at which an emission interval cut to microseconds, or kept
// in floating point, drifts within seconds.
//
// Their bursts last a microsecond longer than one unit. A smaller bucket is full
// before a clock of whole microseconds lets anybody come, and no limiter that
// keeps to burst + rate*T can make up for what then runs over.
var awkward = []string{
	"30011/s burst 2", "30011/s burst 100", "700001/s burst 2", "700001/s burst 1000",
	"9999991/s burst 11", "10000000/s burst 11", "3/s burst 2", "7/s burst 2", "1000/s burst 1",
	"9999991/365d burst 2", "9999991/365d burst 9999991", "999983/d burst 3",
	"1/365d burst 2", "1000003/31535999s burst 2",
}

func TestDemandAboveSupplyIsUsedToWithinOneUnit(t *testing.T) {
	steps := 100_000
	if testing.Short() {
		steps = 2_000
	}
	for _, text := range awkward {
		t.Run(text, func(t *testing.T) { usesSupply(t, text, steps) })
	}
}

// usesSupply takes whatever there is, whenever there is something, and compares
// with burst + count*t/window at each step: never more, never a unit less.
func usesSupply(t *testing.T, text string, steps int) {
	m, s := parse(t, text), algo.State{}
	window, supply, total := int64(m.Limit.Window), new(big.Int), new(big.Int)
	now, taken := epoch, int64(0)
	for range steps {
		o := chargeOne(m, &s, now, m.Capacity, weir.UpTo, "")
		taken += o.Granted
		// (taken - burst) * window against count * elapsed, without rounding.
		total.Mul(total.SetInt64(taken-m.Capacity), big.NewInt(window))
		supply.Mul(supply.SetInt64(m.Limit.Count), big.NewInt(int64(now-epoch)))
		if total.Cmp(supply) > 0 {
			t.Fatalf("after %d us: took %d, more than was supplied", now-epoch, taken)
		}
		if total.Add(total, big.NewInt(window)); total.Cmp(supply) <= 0 {
			t.Fatalf("after %d us: took %d, a unit or more below supply", now-epoch, taken)
		}
		next := algo.Decide(m, &s, now, 1, algo.Owner{})
		if next.OK {
			t.Fatalf("after %d us: a unit was left", now-epoch)
		}
		if now += next.RetryAfter; now > epoch+100*weir.Year {
			return
		}
	}
}

// TestSaturatingDemandGetsTheLimitInEveryWindow asks for one unit whenever one
// fits: every window, wherever it begins, holds the limit at least.
func TestSaturatingDemandGetsTheLimitInEveryWindow(t *testing.T) {
	for _, text := range []string{
		"1/s", "2/s", "16/s", "17/s", "100/s", "100/30s", "1000/m", "1/365d", "3/s sliding_log", "1000/s sliding_log",
	} {
		// Not all at once, so that runs are filled, but always above supply.
		for _, pace := range []weir.Micros{0, 1, 97, 999} {
			m := parse(t, text)
			admitted := saturate(m, pace)
			least, ok := admitted.Least(m.Limit.Window)
			if !ok || least < m.Limit.Count {
				t.Errorf("%s, a unit each %d us: a window held %d units (%v)", text, pace, least, ok)
			}
			if most := admitted.Most(m.Limit.Window); most > m.Limit.Count+m.RunCap-1 {
				t.Errorf("%s, a unit each %d us: a window held %d units", text, pace, most)
			}
		}
	}
}

// saturate takes five times the limit, unit by unit, as early as may be but not
// faster than the pace.
func saturate(m *weir.Meter, pace weir.Micros) *oracle.Rolling {
	var admitted oracle.Rolling
	s, now := algo.State{}, epoch
	for range 5 * m.Capacity {
		o := algo.Decide(m, &s, now, 1, algo.Owner{})
		if !o.OK {
			now += o.RetryAfter
			o = algo.Decide(m, &s, now, 1, algo.Owner{})
		}
		admitted.Admit(now, o.Granted)
		now += pace
	}
	return &admitted
}
