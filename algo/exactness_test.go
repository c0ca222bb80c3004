package algo_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"pgregory.net/rapid"
)

// horizon is until when instants are promised to be exact in float64, whatever
// is in use: a full state drains for at most 2^52 us from it.
const horizon = weir.Micros(1) << 52 // the year 2112

var exactFloat = new(big.Int).Lsh(big.NewInt(1), 53)

// checked multiplies and adds as float64 must do it without rounding: a*b + c,
// of which no part may reach 2^53.
func checked(t *rapid.T, what string, a, b, c int64) {
	product := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	sum := new(big.Int).Add(product, big.NewInt(c))
	for _, n := range []*big.Int{big.NewInt(a), big.NewInt(b), big.NewInt(c), product, sum} {
		if n.CmpAbs(exactFloat) >= 0 {
			t.Fatalf("%s: %d * %d + %d has %v, which is 2^53 or more", what, a, b, c, n)
		}
	}
}

// TestNoIntermediateReaches2To53 mirrors the arithmetic of the algorithms at its
// extremes: the fullest state of any meter, at the last instant promised.
func TestNoIntermediateReaches2To53(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := weir.MustMeter(drawLimit(t, everyAlgorithm...))
		l := m.Limit
		checked(t, "window's end", 1, int64(horizon), int64(l.Window))
		if m.Machine != weir.Bucket {
			if m.UsedCap != weir.MaxUsed {
				t.Fatalf("%v: holds %d", l, m.UsedCap)
			}
			return
		}
		frac := m.Den - 1
		checked(t, "fraction drained", m.UsedCap, m.Rem, frac)
		checked(t, "fraction drained, rounded up", m.UsedCap, m.Rem, frac+m.Den-1)
		part := (m.UsedCap*m.Rem + frac + m.Den - 1) / m.Den
		checked(t, "units drained", m.UsedCap, m.Whole, part)
		checked(t, "expiry", 1, int64(horizon), m.UsedCap*m.Whole+part)
		checked(t, "interval in parts", m.Whole, m.Den, m.Rem)
		checked(t, "units over the capacity", 1, m.UsedCap, m.Capacity)
	})
}

// TestFieldsStayWithinTheirBytes: after any history each number of a state is
// one that its bytes hold and a float64 too.
func TestFieldsStayWithinTheirBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, true, everyAlgorithm...)
		for range 3 { // past the limit, as far as it goes
			chargeOne(k.meter, &k.state, k.now, rapid.SampledFrom([]int64{1, weir.MaxUsed, 1 << 62}).Draw(t, "cost"),
				drawMode(t, k.meter.Limit), "a")
		}
		s := &k.state
		bad := s.Used < 0 || s.Used > weir.MaxUsed || s.Frac < 0 || s.Frac >= k.meter.Den ||
			s.At < 0 || s.At >= 1<<53 || s.Expiry(k.meter) >= 1<<53
		sum := int64(0)
		for i, r := range s.Runs {
			sum += r.N
			bad = bad || r.N < 1 || r.N > weir.MaxUsed || r.T < 0 || r.T >= 1<<53
			bad = bad || i > 0 && r.T < s.Runs[i-1].T
		}
		if len(s.Runs) > 0 || k.meter.Machine == weir.Runs || k.meter.Machine == weir.Slots {
			bad = bad || sum != s.Used
		}
		if bad {
			t.Fatalf("%v: %s", k.meter.Limit, dump(*s))
		}
	})
}

// TestNoDriftInAYear drains awkward rates in small and in large steps: both end
// at the same instant, to the fraction of a microsecond.
func TestNoDriftInAYear(t *testing.T) {
	for _, l := range []weir.Limit{
		{Algorithm: weir.GCRA, Count: 9_999_991, Window: weir.Year},
		{Algorithm: weir.GCRA, Count: 9_999_991, Window: 31_535_999 * weir.Second},
		{Algorithm: weir.GCRA, Count: 30_011, Window: weir.Second},
		{Algorithm: weir.GCRA, Count: 700_001, Window: weir.Second},
		{Algorithm: weir.GCRA, Count: 9_999_991, Window: weir.Second},
	} {
		t.Run(fmt.Sprint(l), func(t *testing.T) {
			m := meter(t, l)
			small, large := algo.State{}, algo.State{}
			for _, s := range []*algo.State{&small, &large} {
				chargeOne(m, s, epoch, m.Capacity, weir.Enforce, "")
			}
			const parts = 9973
			step := l.Window / parts
			for i := range weir.Micros(parts) {
				chargeOne(m, &small, epoch+i*step, 1, weir.Peek, "")
			}
			last := epoch + l.Window - 1
			chargeOne(m, &small, last, 1, weir.Peek, "")
			chargeOne(m, &large, last, 1, weir.Peek, "")
			if a, b := dump(small), dump(large); a != b || small.Used == 0 {
				t.Errorf("in %d steps %s\nin one step %s", parts, a, b)
			}
			if got := small.Expiry(m); got != epoch+l.Window {
				t.Errorf("drained after %d us, not %d", got-epoch, l.Window)
			}
		})
	}
}
