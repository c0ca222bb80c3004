package algo

import (
	"math/bits"

	"github.com/weirlimit/weir"
)

// decideFraction is decide for a bucket in use whose units drain in fractions of
// a microsecond, as those of most large rates do. It divides where there is no
// other way: a division costs as much as the rest, and a bucket is mostly one
// that has drained, or has not by a whole unit.
func decideFraction(m *weir.Meter, s *State, now weir.Micros, cost int64, o *weir.Outcome) {
	used, at, frac := s.Used, s.At, s.Frac
	if frac >= m.Den { // two limits with one mark
		at, frac = at+1, 0
	}
	if elapsed := int64(now - at); elapsed > 0 {
		// In parts of a microsecond, of which the products need 128 bits: what has
		// passed, what a unit takes and what all take.
		unit := uint64(m.Whole*m.Den + m.Rem)
		hi, lo := bits.Mul64(uint64(elapsed), uint64(m.Den))
		lo, borrow := bits.Sub64(lo, uint64(frac), 0)
		hi -= borrow
		allHi, allLo := bits.Mul64(uint64(used), unit)
		switch {
		case hi > allHi || hi == allHi && lo >= allLo:
			used, at, frac = 0, 0, 0
		case hi > 0 || lo >= unit:
			n, _ := bits.Div64(hi, lo, unit)
			part := int64(n)*m.Rem + frac
			used -= int64(n)
			at += weir.Micros(int64(n)*m.Whole + part/m.Den)
			frac = part % m.Den
		}
	}
	*o = weir.Outcome{Before: weir.Usage{Used: used, Since: at}}
	if cost <= m.Capacity-used {
		if used == 0 {
			at, frac = now, 0
		}
		used += cost
		o.OK, o.Granted = true, cost
		s.Dirty = true
	} else if cost > m.Capacity {
		o.RetryAfter = weir.Never
	} else {
		o.RetryAfter = at - now + drained(m, used+cost-m.Capacity, frac)
	}
	o.Remaining = m.Capacity - used
	if used > 0 {
		o.ResetAfter = at - now + drained(m, used, frac)
	}
	s.Used, s.At, s.Frac = used, at, frac
}

// drained is how long n units take from a fraction of a microsecond on, in whole
// ones, rounded up.
func drained(m *weir.Meter, n, frac int64) weir.Micros {
	part := n*m.Rem + frac
	if part <= m.Den { // not 0: there are units, and Rem is not
		return weir.Micros(n*m.Whole + 1)
	}
	return weir.Micros(n*m.Whole + (part+m.Den-1)/m.Den)
}
