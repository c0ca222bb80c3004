package redisstore

import "github.com/weirlimit/weir"

// block is groups of a flight that ask the same of other keys: of as many charges,
// all of which count, under the same meters and of the same costs, each on a key that
// no other charge is on. They can be decided in any order, and with little: see
// commit.lua.
type block struct {
	head, tail int32 // its groups; the next is in group.alike
	n          int32
	counted    bool // they are of several entries each
}

// sorted is how the groups of a flight are laid out for the script.
type sorted struct {
	blocks  []block
	blockAt [32]int32 // by the hash of what it asks: a block + 1, or 0
	shared  []uint16  // the meters of groups that are in no block
	meterNo []uint16  // of each meter: its place among shared, from 1, or 0
	touches []uint8   // of each key: the charges that name it; two are as many as more
	general int       // groups that are in no block

	moved  []uint16 // of each key: its new number, from 1, or 0
	spared []span   // the memory of the spans before the last ones
}

// sort tells apart what the script decides by shorter ways.
func (f *flight) sort() {
	s := &f.sorted
	s.blocks, s.shared, s.general = s.blocks[:0], s.shared[:0], 0
	clear(s.blockAt[:])
	s.meterNo = grow(s.meterNo, len(f.meters))
	clear(s.meterNo)
	s.touches = grow(s.touches, f.keys.len())
	clear(s.touches)
	for i, k := range f.keyOf {
		s.touches[k] = min(s.touches[k]+1, 2)
		if t := f.twinOf[i]; t > 0 {
			s.touches[t-1] = 2
		}
	}
	for i := range f.groups {
		g := &f.groups[i]
		g.plain = g.flags == 0 && countsAll(f.charges[g.first:g.first+g.n])
		g.own = g.plain && f.ownsKeys(g)
		if g.own {
			f.putInBlock(int32(i), g)
			continue
		}
		s.general++
		for _, m := range f.meterOf[g.first : g.first+g.n] {
			if s.meterNo[m] == 0 {
				s.shared = append(s.shared, m)
				s.meterNo[m] = uint16(len(s.shared))
			}
		}
	}
	f.arrange()
}

// ownsKeys tells whether no other group touches a key of g.
func (f *flight) ownsKeys(g *group) bool {
	for _, k := range f.keyOf[g.first : g.first+g.n] {
		if f.touches[k] != 1 {
			return false
		}
	}
	return true
}

// putInBlock adds g, which is group i, to those like it.
func (f *flight) putInBlock(i int32, g *group) {
	g.alike = -1
	at := len(f.blocks) - 1
	if at < 0 || !f.alike(&f.blocks[at], g) {
		slot := &f.blockAt[f.shape(g)%uint64(len(f.blockAt))]
		if at = int(*slot) - 1; at < 0 || !f.alike(&f.blocks[at], g) {
			f.blocks = append(f.blocks, block{head: i, tail: i, n: 1, counted: g.count > 1})
			*slot = int32(len(f.blocks))
			return
		}
	}
	b := &f.blocks[at]
	f.groups[b.tail].alike, b.tail = i, i
	b.n++
}

// alike tells whether g asks the same as the groups of b.
func (f *flight) alike(b *block, g *group) bool {
	o := &f.groups[b.head]
	if o.n != g.n || b.counted != (g.count > 1) {
		return false
	}
	for j := range g.n {
		x, y := o.first+j, g.first+j
		if f.meterOf[x] != f.meterOf[y] || f.charges[x].Cost != f.charges[y].Cost || f.charges[x].Mode != f.charges[y].Mode {
			return false
		}
	}
	return true
}

// shape is a hash of what alike compares.
func (f *flight) shape(g *group) uint64 {
	h := uint64(g.n)<<1 | uint64(min(g.count, 2)-1)
	for j := g.first; j < g.first+g.n; j++ {
		h = mix(h, uint64(f.charges[j].Cost)<<24^uint64(f.meterOf[j])<<8^uint64(f.charges[j].Mode))
	}
	return h
}

// arrange numbers the keys anew: first those of the blocks, in the order of their
// groups, which in most flights they are in.
func (f *flight) arrange() {
	if f.general == 0 && len(f.blocks) == 1 {
		return
	}
	spans, next := grow(f.spared, len(f.keys.spans)), uint16(0)
	f.moved = grow(f.moved, len(spans))
	clear(f.moved)
	for i := range f.blocks {
		for at := f.blocks[i].head; at >= 0; at = f.groups[at].alike {
			g := &f.groups[at]
			for j := g.first; j < g.first+g.n; j++ {
				k := f.keyOf[j]
				spans[next], f.keyOf[j] = f.keys.spans[k], next
				next++
				f.moved[k] = next
			}
		}
	}
	if f.general > 0 {
		for k := range f.moved {
			if f.moved[k] == 0 {
				spans[next] = f.keys.spans[k]
				next++
				f.moved[k] = next
			}
		}
		f.renumber()
	}
	f.spared, f.keys.spans = f.keys.spans, spans
}

// renumber has the groups that are in no block name their keys by the new numbers.
func (f *flight) renumber() {
	for i := range f.groups {
		g := &f.groups[i]
		if g.own {
			continue
		}
		for j := g.first; j < g.first+g.n; j++ {
			f.keyOf[j] = f.moved[f.keyOf[j]] - 1
			if t := f.twinOf[j]; t > 0 {
				f.twinOf[j] = f.moved[t-1]
			}
		}
	}
}

// countsAll tells whether all charges add to a counter, and all must fit.
func countsAll(charges []weir.Charge) bool {
	for i := range charges {
		c := &charges[i]
		if c.Mode != weir.Enforce && c.Mode != weir.Always || c.Group != 0 || c.Cost <= 0 || c.Meter.Machine == weir.Slots {
			return false
		}
	}
	return true
}
