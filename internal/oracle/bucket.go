package oracle

import (
	"math/big"

	"github.com/weirlimit/weir"
)

// bucket is GCRA by its textbook: a charge of n conforms when the theoretical
// arrival time, moved on by n emission intervals, is at most capacity
// intervals ahead of now.
type bucket struct {
	limit weir.Limit
	unit  *big.Rat    // emission interval, microseconds
	tat   *big.Rat    // nil when nothing is in use
	seen  weir.Micros // the latest instant at which something was in use
	now   weir.Micros
}

func newBucket(l weir.Limit) *bucket {
	return &bucket{limit: l, unit: interval(l)}
}

func interval(l weir.Limit) *big.Rat { return big.NewRat(int64(l.Window), l.Count) }

func (b *bucket) See(now weir.Micros) {
	b.now = now
	if b.tat == nil {
		return
	}
	b.seen = max(b.seen, now)
	if b.tat.Cmp(rat(b.seen)) <= 0 {
		b.tat = nil
	}
}

// SetLimit states the units in use in the new interval, from the instant at
// which their number was last whole. That instant is rounded up to a
// microsecond: what is in use under a new rate is never free too early.
func (b *bucket) SetLimit(l weir.Limit) {
	old, used := b.limit, b.Used()
	whole := b.whole()
	b.limit, b.unit = l, interval(l)
	if used == 0 || old.Count == l.Count && old.Window == l.Window {
		return
	}
	from := ceil(whole)
	b.seen = weir.Micros(from.Int64()) // what lies after it counts again, at the new rate
	b.tat = new(big.Rat).Add(new(big.Rat).SetInt(from), b.times(used))
}

// Clone shares the numbers: none is changed in place.
func (b *bucket) Clone() Counter {
	c := *b
	return &c
}

// Used is the number of intervals ahead of the latest instant, rounded up.
func (b *bucket) Used() int64 {
	if b.tat == nil {
		return 0
	}
	ahead := new(big.Rat).Sub(b.tat, rat(b.seen))
	return ceil(ahead.Quo(ahead, b.unit)).Int64()
}

// whole is the instant at which the number of units in use was last whole.
func (b *bucket) whole() *big.Rat {
	if b.tat == nil {
		return new(big.Rat)
	}
	return new(big.Rat).Sub(b.tat, b.times(b.Used()))
}

func (b *bucket) Since() weir.Micros { return weir.Micros(floor(b.whole()).Int64()) }

func (b *bucket) Holds(string) bool { return false }

func (b *bucket) Take(n int64, _ string) int64 {
	used := b.Used()
	n = min(n, b.most()-used)
	if n <= 0 {
		return 0
	}
	if used == 0 {
		b.tat, b.seen = rat(b.now), b.now
	}
	b.tat = new(big.Rat).Add(b.tat, b.times(n))
	return n
}

func (b *bucket) Give(n int64, _ string) int64 {
	used := b.Used()
	if n >= used {
		b.tat = nil
		return used
	}
	b.tat = new(big.Rat).Sub(b.tat, b.times(n))
	return n
}

func (b *bucket) FreeAt(n int64) weir.Micros {
	at := new(big.Rat).Sub(b.tat, b.times(b.Used()-min(n, b.most())))
	return weir.Micros(ceil(at).Int64())
}

// most is how many units may be in use: so many that they take no longer to
// drain than 2^52 microseconds, an interval taken as the next whole one.
func (b *bucket) most() int64 {
	most := new(big.Int).Lsh(big.NewInt(1), 52)
	most.Quo(most, new(big.Int).Add(floor(b.unit), big.NewInt(1)))
	if most.Cmp(big.NewInt(maxUsed)) > 0 {
		return maxUsed
	}
	return most.Int64()
}

func (b *bucket) times(n int64) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt64(n), b.unit)
}

func rat(at weir.Micros) *big.Rat { return new(big.Rat).SetInt64(int64(at)) }

// floor rounds down; Div is Euclidean, and a denominator is above 0.
func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

func ceil(r *big.Rat) *big.Int {
	down := floor(new(big.Rat).Neg(r))
	return down.Neg(down)
}
