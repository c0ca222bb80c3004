package policy

import (
	"maps"
	"math/bits"
	"sync/atomic"

	"github.com/weirlimit/weir"
)

// minShards: a counter in one part is not split.
const minShards = 2

// checkShards looks at what a policy whose counters are split cannot have.
func (d *policyDraft) checkShards(r *nativeReader) {
	if d.Shards == 0 {
		return
	}
	n := int64(d.Shards)
	if w := d.firstLimit(func(l weir.Limit) bool { return !splittable(l.Algorithm) }); w != nil {
		r.problemAt(w.At.Line, w.At.Column, "bad-value", "put this limit into a policy of its own, or take counter_shards out",
			"policy %s has counter_shards, and %s cannot be split", d.ID, w.Limit)
		return
	}
	if w := d.firstLimit(func(l weir.Limit) bool { return partsOf(l) < n }); w != nil {
		r.problemAt(w.At.Line, w.At.Column, "bad-value", "use fewer shards: only large limits are worth splitting",
			"%s cannot be split into %d parts of at least 1", w.Limit, d.Shards)
		return
	}
	if w := d.firstLimit(func(l weir.Limit) bool { return partMeters(l, n) == nil }); w != nil {
		r.problemAt(w.At.Line, w.At.Column, "bad-value", "use fewer shards, or a smaller burst",
			"a burst of one of %d parts of %s would take more than two years to refill", n, w.Limit)
	}
}

// splittable tells whether limits of an algorithm can be split: a leaky bucket
// that is split no longer spaces requests, and a place in progress is to be
// found again by a release, whatever the limit is by then.
func splittable(a weir.Algorithm) bool { return a != weir.LeakyBucket && a != weir.Concurrency }

// partsOf is the most parts that a limit can be split into.
func partsOf(l weir.Limit) int64 { return min(l.Count, l.Capacity()) }

// partOf is part i of n, from 0. All parts together are the limit; the first
// ones have what does not go round.
func partOf(l weir.Limit, n, i int64) weir.Limit {
	l.Count = share(l.Count, n, i)
	if l.Burst > 0 {
		l.Burst = share(l.Burst, n, i)
	}
	return l
}

func share(of, n, i int64) int64 {
	s := of / n
	if i < of%n {
		s++
	}
	return s
}

// partsOfAll is into how many parts limits are split that n are wanted of: all
// into as many, so that the windows of a sub-counter are in one place. 0 when
// they are not split.
func partsOfAll(meters []*weir.Meter, n int64) int64 {
	for _, m := range meters {
		n = min(n, partsOf(m.Limit))
		if !splittable(m.Limit.Algorithm) || n < minShards {
			return 0
		}
	}
	return n
}

// partMeters makes the meters of n parts of a limit. It returns nil where a part
// is no limit, as when its burst would take years to refill.
func partMeters(l weir.Limit, n int64) []*weir.Meter {
	parts := make([]*weir.Meter, 0, n)
	for i := range n {
		m, err := weir.NewMeter(partOf(l, n, i))
		if err != nil {
			return nil
		}
		parts = append(parts, m)
	}
	return parts
}

// splitter remembers the parts of limits: those of policies, and those that
// overrides gave. It is safe for concurrent use. Finding parts takes no lock.
type splitter struct {
	known atomic.Pointer[map[partedLimit][]*weir.Meter] // replaced, never changed
}

type partedLimit struct {
	limit weir.Limit
	parts int64
}

// maxParted bounds the limits whose parts are remembered; overrides come and go.
const maxParted = 1024

func (s *splitter) parts(l weir.Limit, n int64) []*weir.Meter {
	had := s.known.Load()
	k := partedLimit{l, n}
	if had != nil {
		if parts, ok := (*had)[k]; ok {
			return parts
		}
	}
	parts, next := partMeters(l, n), map[partedLimit][]*weir.Meter{}
	if had != nil && len(*had) < maxParted {
		next = maps.Clone(*had)
	}
	next[k] = parts
	s.known.CompareAndSwap(had, &next) // who loses splits again, once
	return parts
}

// split finds the parts of meters, for the charges of a policy whose counters
// are split. The slice is valid until the next call.
func (p *Plan) split(s *splitter, meters []*weir.Meter, wanted int64) [][]*weir.Meter {
	n := partsOfAll(meters, wanted)
	if n == 0 {
		return nil
	}
	p.parted = p.parted[:0]
	for _, m := range meters {
		parts := s.parts(m.Limit, n)
		if parts == nil {
			return nil
		}
		p.parted = append(p.parted, parts)
	}
	return p.parted
}

// choice is a number that picks a sub-counter: the same for all of a request, the
// same for all requests of one id, and else as evenly spread as can be, whatever
// requests alternate with each other.
func (p *Plan) choice(id string) uint64 {
	if p.chosen {
		return p.chose
	}
	p.chosen = true
	if id != "" {
		p.chose = hashID(id)
		return p.chose
	}
	const golden = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio: the steps that leave the smallest gaps
	p.Turn++
	p.chose = p.Turn * golden
	return p.chose
}

// hashID is FNV-1a, with its bits mixed: the upper ones count.
func hashID(id string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 0x100000001b3
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// pick is which of n a choice falls on, from 0.
func pick(choice uint64, n int) int {
	hi, _ := bits.Mul64(choice, uint64(n))
	return int(hi)
}
