package share

import "github.com/weirlimit/weir"

// MaxParts is the most parts that a limit is cut into.
const MaxParts = 1 << 17

// hold is how long a unit of a concurrency limit is taken to be held: who gives
// it back is not seen while the store is away. See Of.
const hold = weir.Second

// Of returns the meter of one of parts even shares of a limit: a bucket of one
// unit at least. A share of a concurrency limit is a bucket too, of units that
// are held for a second.
//
// The bucket's interval is window x parts / count. It is not reduced to lowest
// terms, as weir.NewMeter does: the arithmetic is exact all the same, and this
// is computed for every charge.
func Of(m *weir.Meter, parts int) weir.Meter {
	n := int64(min(max(parts, 1), MaxParts))
	window, count := m.Limit.Window, m.Limit.Count
	if m.Machine == weir.Slots {
		window = min(window, hold)
	}
	out := weir.Meter{Limit: m.Limit, Machine: weir.Bucket, Capacity: max(1, m.Capacity/n), Shapes: m.Shapes}
	period := int64(window) * n // at most 365 d x 2^17 < 2^62
	out.Whole, out.Rem, out.Den = period/count, period%count, count
	if most := 1<<52/out.Capacity - 1; out.Whole > most { // 142 years, for one a year and many instances
		out.Whole, out.Rem = most, 0
	}
	if out.Rem == 0 {
		out.Den = 1
	}
	out.UsedCap = min(weir.MaxUsed, 1<<52/(out.Whole+1))
	out.Mark = mark(&out)
	return out
}

// mark tells shares of different limits, and of different numbers of parts,
// apart, as weir.Meter's does.
func mark(m *weir.Meter) uint16 {
	h := uint64(m.Whole)*0x9e3779b97f4a7c15 ^ uint64(m.Rem)*0xc2b2ae3d27d4eb4f ^ uint64(m.Den)
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return uint16(m.Machine)<<14 | uint16(h>>50)
}
