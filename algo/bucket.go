package algo

import (
	"math/bits"

	"github.com/weirlimit/weir"
)

// The bucket machine counts units in use and the instant at which that count
// was last whole: Used units at At + Frac/Den. One unit drains every
// Whole + Rem/Den microseconds. This is GCRA with its theoretical arrival time
// kept as a count and an instant instead of one number, so that the count
// survives a change of rate:
//
//	TAT = At + Frac/Den + Used * (Whole + Rem/Den)

// drainBucket removes the units drained by now.
func drainBucket(m *weir.Meter, s *State, now weir.Micros) {
	if s.Frac >= m.Den { // two limits with one mark
		s.At, s.Frac = s.At+1, 0
	}
	elapsed := int64(now - s.At)
	if elapsed <= 0 {
		return
	}
	if m.Den == 1 {
		if elapsed < m.Whole { // a division costs as much as the rest of a decision
			return
		}
		n := elapsed / m.Whole
		if n >= s.Used {
			s.clear()
			return
		}
		s.Used -= n
		s.At += weir.Micros(n * m.Whole)
		return
	}
	// Whole units in elapsed - Frac/Den: at most 10 a microsecond, so the
	// quotient fits; the product needs 128 bits.
	hi, lo := bits.Mul64(uint64(elapsed), uint64(m.Den))
	lo, borrow := bits.Sub64(lo, uint64(s.Frac), 0)
	quo, _ := bits.Div64(hi-borrow, lo, uint64(m.Whole*m.Den+m.Rem))
	n := int64(quo)
	if n >= s.Used {
		s.clear()
		return
	}
	part := n*m.Rem + s.Frac // < 2^24 * 1e7 + 1e7 < 2^48
	s.Used -= n
	s.At += weir.Micros(n*m.Whole + part/m.Den)
	s.Frac = part % m.Den
}

// bucketAt is the first whole microsecond at which n units have drained. More
// than UsedCap, left by a faster limit, are taken for UsedCap: their drain would
// exceed 2^52, and 142 years.
func bucketAt(m *weir.Meter, s *State, n int64) weir.Micros {
	n = min(n, m.UsedCap)
	if m.Den == 1 {
		return s.At + weir.Micros(n*m.Whole)
	}
	part := n*m.Rem + s.Frac
	return s.At + weir.Micros(n*m.Whole+(part+m.Den-1)/m.Den)
}

// decideWhole is decide for the most common case of all: a bucket in use whose
// units drain in whole microseconds. It is the same arithmetic in one piece, and
// takes a third of the time.
func decideWhole(m *weir.Meter, s *State, now weir.Micros, cost int64, o *weir.Outcome) {
	used, at := s.Used, s.At
	if elapsed := int64(now - at); elapsed >= m.Whole {
		n := elapsed / m.Whole
		if n >= used {
			used, at = 0, 0
		} else {
			used -= n
			at += weir.Micros(n * m.Whole)
		}
	}
	*o = weir.Outcome{Before: weir.Usage{Used: used, Since: at}}
	if cost <= m.Capacity-used {
		if used == 0 {
			at = now
		}
		used += cost
		o.OK, o.Granted = true, cost
		s.Dirty = true
	} else if cost > m.Capacity {
		o.RetryAfter = weir.Never
	} else {
		o.RetryAfter = at + weir.Micros((used+cost-m.Capacity)*m.Whole) - now
	}
	o.Remaining = m.Capacity - used
	if used > 0 {
		o.ResetAfter = at + weir.Micros(used*m.Whole) - now
	}
	s.Used, s.At, s.Frac = used, at, 0
}
