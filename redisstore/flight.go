package redisstore

import (
	"hash/maphash"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"github.com/weirlimit/weir/internal/key"
)

// flight is one round trip: the entries it answers, grouped, and all the
// memory it needs, reused from one to the next. Once built it refers to no
// memory of a caller: an entry may be given up while its flight is away.
type flight struct {
	store  *Store
	items  []*item // guarded by the shard's mu
	spare  []*call // for the next ones; see shard.submitLone
	landed []*item // the same after detach
	blamed int     // what its failed entries weighed so far; guarded like items

	groups  []group
	charges []weir.Charge // of all groups; keys are in keyOf instead
	keyOf   []uint16      // of each charge: index into keys, from 0
	twinOf  []uint16      // of each charge: that of its twin, from 1, or 0
	meterOf []uint16
	next    []int32 // of each item: the next one of its group, or -1
	last    []int32 // of each key: the last group that touches it
	latest  int32   // the group of the item before, or -1

	meters  []*weir.Meter
	meterIx map[*weir.Meter]uint16 // of those after the first few
	keys    index                  // state keys
	replays index                  // replay keys
	byShape shapes
	arena   []byte // the bytes of keys, then of replay keys

	blob  []byte
	wire  []byte // the command that carries blob
	sent  uint
	timed bool // the script takes its own time
	sorted
	replay
	stand standby
}

// group is a set of identical entries.
type group struct {
	first, n   int32 // charges[first : first+n]
	head, tail int32 // its items
	count      int32
	replay     int32 // index into replays, or -1
	flags      uint8
	owner      algo.Owner
	attempt    uint64
	hash       uint64

	// As sort tells them apart.
	plain bool  // all its charges count and must fit
	own   bool  // and no other group touches their keys: it is in a block
	alike int32 // the next of its block, or -1
}

func newFlight(s *Store) *flight {
	return &flight{store: s, meterIx: make(map[*weir.Meter]uint16)}
}

func (f *flight) reset() {
	f.groups, f.next = f.groups[:0], f.next[:0]
	f.charges, f.keyOf, f.twinOf, f.meterOf = f.charges[:0], f.keyOf[:0], f.twinOf[:0], f.meterOf[:0]
	f.meters, f.arena, f.latest = f.meters[:0], f.arena[:0], -1
	if len(f.meterIx) > 0 {
		clear(f.meterIx)
	}
	f.keys.reset()
	f.replays.reset()
	f.byShape.reset()
}

// build groups items until keyCap distinct keys are in, those of request ids too, and
// returns how many it took. Those that must go out alone are left to the caller: build stops
// before the first, or takes just that one.
func (f *flight) build(items []*item, keyCap int) int {
	f.reset()
	for i, it := range items {
		if i > 0 && (f.size() >= keyCap || it.declared) {
			return i
		}
		if !it.state.CompareAndSwap(queued, building) {
			f.next = append(f.next, -1) // given up; it stays only to be dropped
			continue
		}
		f.add(int32(i), it)
		it.state.Store(flying)
		if it.declared {
			return i + 1
		}
	}
	return len(items)
}

// add puts one item's entry into its group.
func (f *flight) add(i int32, it *item) {
	e := it.entry
	if at := f.latest; at >= 0 && f.repeats(at, it) {
		f.next = append(f.next, -1)
		g := &f.groups[at]
		f.next[g.tail] = i
		g.tail = i
		g.count++
		return
	}
	f.next = append(f.next, -1)
	first := int32(len(f.charges))
	h, twins, known := uint64(it.flags), uint8(0), true
	for j := range e.Charges {
		c := &e.Charges[j]
		names := f.keys.len()
		k := f.keys.intern(&f.arena, f.store.opts.Prefix, c.Key)
		known = known && f.keys.len() == names
		m := f.meter(c.Meter)
		twin := uint16(0)
		if c.Twinning != weir.TwinNone {
			twin = f.keys.intern(&f.arena, f.store.opts.Prefix, c.Twin) + 1
			h = mix(h, uint64(twin)<<8|uint64(c.Twinning))
			twins = flagTwins
		}
		f.charges = append(f.charges, weir.Charge{Meter: c.Meter, Cost: c.Cost, Mode: c.Mode, Group: c.Group, Twinning: c.Twinning})
		f.keyOf = append(f.keyOf, k)
		f.twinOf = append(f.twinOf, twin)
		f.meterOf = append(f.meterOf, m)
		h = mix(h, uint64(k)<<32|uint64(m)<<16|uint64(c.Mode)<<8|uint64(c.Group))
		h = mix(h, uint64(c.Cost))
	}
	g := group{
		first: first, n: int32(len(e.Charges)), head: i, tail: i, count: 1,
		replay: -1, flags: it.flags | twins, owner: it.holderID, attempt: it.attempt, hash: h,
	}
	if it.flags == 0 {
		if known { // else no other can be the same
			if at := f.byShape.find(f, &g); at >= 0 && (!it.ordered || f.isLast(at, &g)) {
				f.join(at, i, first)
				f.latest = at
				return
			}
		}
		f.byShape.put(h, int32(len(f.groups)))
	} else if it.flags&(flagReplay|flagUndo) != 0 {
		g.replay = int32(f.replays.intern(&f.arena, f.store.replayPrefix(it.slot), string(it.replayID[:])))
	}
	f.last = grow(f.last, f.keys.len())
	for j := first; j < first+g.n; j++ {
		f.last[f.keyOf[j]] = int32(len(f.groups))
		if t := f.twinOf[j]; t > 0 {
			f.last[t-1] = int32(len(f.groups))
		}
	}
	f.latest = int32(len(f.groups))
	f.groups = append(f.groups, g)
}

// repeats tells whether an item asks for one charge, and for the same as group
// at: that of the item before it, as a hot key's often is.
func (f *flight) repeats(at int32, it *item) bool {
	g, e := &f.groups[at], it.entry
	if len(e.Charges) != 1 || g.n != 1 || it.flags != 0 || g.flags != 0 || it.ordered || g.count == maxCount {
		return false
	}
	c, old := &e.Charges[0], &f.charges[g.first]
	if c.Meter != old.Meter || c.Cost != old.Cost || c.Mode != old.Mode || c.Group != old.Group || c.Twinning != weir.TwinNone {
		return false
	}
	sp := &f.keys.spans[f.keyOf[g.first]]
	return string(f.arena[int(sp.from)+len(f.store.opts.Prefix):sp.to]) == c.Key
}

// isLast tells whether group at is the last that touches each of g's keys. An
// entry of a batch with several may join only such a group: it must not be
// decided before an earlier entry of its own batch.
func (f *flight) isLast(at int32, g *group) bool {
	for j := g.first; j < g.first+g.n; j++ {
		if t := f.twinOf[j]; f.last[f.keyOf[j]] != at || t > 0 && f.last[t-1] != at {
			return false
		}
	}
	return true
}

// join makes item i one more of group at.
func (f *flight) join(at, i, first int32) {
	g := &f.groups[at]
	f.next[g.tail] = i
	g.tail = i
	g.count++
	f.charges, f.keyOf, f.twinOf, f.meterOf = f.charges[:first], f.keyOf[:first], f.twinOf[:first], f.meterOf[:first]
}

func (f *flight) meter(m *weir.Meter) uint16 {
	for i, known := range f.meters[:min(len(f.meters), fewMeters)] {
		if known == m {
			return uint16(i)
		}
	}
	if len(f.meters) < fewMeters {
		f.meters = append(f.meters, m)
		return uint16(len(f.meters) - 1)
	}
	at, ok := f.meterIx[m]
	if !ok {
		at = uint16(len(f.meters))
		f.meters = append(f.meters, m)
		f.meterIx[m] = at
	}
	return at
}

// fewMeters are looked through faster than a map.
const fewMeters = 8

// same tells whether two groups ask the same.
func (f *flight) same(a, b *group) bool {
	if a.hash != b.hash || a.n != b.n || a.count == maxCount {
		return false
	}
	for i := range a.n {
		x, y := a.first+i, b.first+i
		if f.keyOf[x] != f.keyOf[y] || f.twinOf[x] != f.twinOf[y] || f.charges[x] != f.charges[y] {
			return false
		}
	}
	return true
}

// replayPrefix is what a replay record's key begins with.
func (s *Store) replayPrefix(slot uint16) string {
	if s.follow == nil {
		return s.opts.Prefix + "#"
	}
	return s.opts.Prefix + "#{" + s.follow.tags[slot%key.Slots] + "}"
}

func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

var seed = maphash.MakeSeed()
