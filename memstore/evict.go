package memstore

import (
	"math"

	"github.com/weirlimit/weir"
)

// Bounds on the search for a victim. It looks at up to sampleGroup states from
// each of up to sampleGroups places on, and ends after the first group in which
// one has no more than an eighth of its limit in use.
const (
	sampleGroup  = 16
	sampleGroups = 8
	sampleCells  = 8 * sampleGroup // in a group, empty ones included
)

// place is a cell of one of a shard's tables.
type place struct{ table, cell int }

// room gets a place for the key: a free one, that of an expired state, or, if
// force allows, that of a live one, but none of keep. It returns false when room
// has to be made elsewhere first.
func (s *shard) room(k *key, now weir.Micros, force bool, keep []key) (ok, evicted bool) {
	t := s.shared.tick(now)
	if t > grace && s.isDue(t-grace) {
		s.sweep(t-grace, 1, keep)
	}
	if own := &s.tables[k.table()]; own.full() && own.slots >= segment && s.isDue(t) {
		s.sweep(t, everySegment, keep) // rather than grow
	}
	if s.shared.reserve() {
		return true, false
	}
	if s.isDue(t) && s.sweep(t, everySegment, keep) > 0 && s.shared.reserve() {
		return true, false
	}
	if !force && uint32(t) >= s.shared.soonest.Load() {
		return false, false
	}
	ok = s.evict(k.table(), k.hash, now, keep)
	return ok, ok
}

// evict takes the place of the live state whose loss changes least, of a sample
// that starts in a table at the home of a hash. The hash has to be random, such
// as a new key's: a table in which cells are freed in one order and filled in
// another gets crowded where they are yet to be freed, and slow.
func (s *shard) evict(table int, hash uint64, now weir.Micros, keep []key) bool {
	v := search{shard: s, now: now, keep: keep, least: math.MaxUint32}
	from := place{table, s.tables[table].home(hash)}
	for range sampleGroups {
		if v.through(from, sampleCells) {
			break
		}
		hash = hash*0x9e3779b97f4a7c15 + 1
		from = s.anyPlace(hash >> 32)
	}
	for n := 0; n < tables && v.seen == 0; n++ { // nearly nobody is here
		v.through(place{n, 0}, int(s.tables[n].slots))
	}
	if v.seen == 0 {
		return false
	}
	s.detach(v.best.table, v.best.cell)
	s.counts.evicted++
	return true
}

// anyPlace turns 32 random bits into a cell; any, if there is one.
func (s *shard) anyPlace(random uint64) place {
	all := uint64(0)
	for n := range s.tables {
		all += uint64(s.tables[n].slots)
	}
	i := random * all >> 32
	for n := range s.tables {
		slots := uint64(s.tables[n].slots)
		if i < slots {
			return place{n, int(i)}
		}
		i -= slots
	}
	return place{}
}

// search is one for a victim.
type search struct {
	shard *shard
	now   weir.Micros
	keep  []key
	best  place
	least uint32 // the weight of the best
	seen  int
}

// through looks at a group of states in at most so many cells, and tells whether
// the best so far will do.
func (v *search) through(from place, cells int) bool {
	const little = 255 << 8 / 8
	t := &v.shard.tables[from.table]
	most := v.seen + sampleGroup
	i := from.cell
	for range min(cells, int(t.slots)) {
		if c := t.at(i); !c.isEmpty() && !v.shard.isKept(from.table, c, v.keep) {
			v.seen++
			if w := v.shard.shared.weight(c, v.now); w < v.least {
				v.best, v.least = place{from.table, i}, w
			}
			// Nothing weighs much less than the smallest share.
			if v.least <= 1<<8 || v.seen == most {
				break
			}
		}
		i = t.after(i)
	}
	return v.least <= little
}

// weight is the share of its limit that a state uses, in 255*256ths. A bucket
// drains evenly from At to its due instant; what else was written stays until
// then.
func (c *shared) weight(at cell, now weir.Micros) uint32 {
	w := uint32(at.share()) << 8
	if at.machine() != weir.Bucket {
		return w
	}
	due, since := c.latest(at.due()), weir.Micros(at.word(0))
	span, left := due-since, due-now
	if left >= span || span <= 0 {
		return w
	}
	return uint32(float64(w) * float64(max(left, 0)) / float64(span))
}
