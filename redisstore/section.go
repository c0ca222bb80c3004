package redisstore

import "github.com/weirlimit/weir"

// section is charges of a flight that count, under one meter and of one cost, each
// on a key that no other charge is on. They can be decided in any order, and with little: see
// commit.lua.
type section struct {
	meter uint16
	kind  uint8
	cost  int64
	head  int32 // the first of its charges; the next is in beside
	n     int32
}

// The kinds of a section, added up.
const (
	kindAlways  = 1
	kindSeveral = 2 // its charges are of requests of several
	kindUnit    = 4 // of cost 1; not told to the script
	kinds       = 8
)

// sorted is how the groups of a flight are laid out for the script.
type sorted struct {
	sections []section
	sectOf   []int32  // of each meter and kind: its latest section + 1, or 0
	beside   []int32  // of each charge: the next of its section, or -1
	groupOf  []int32  // of each charge in a section: its group
	several  uint16   // groups of several charges in sections
	shared   []uint16 // the meters of groups that are in no section
	meterNo  []uint16 // of each meter: its place among shared, from 1, or 0
	touches  []uint8  // of each key: the charges that name it; two are as many as more
	general  int      // groups that are in no section
}

// sort tells apart what the script decides by shorter ways.
func (f *flight) sort() {
	s := &f.sorted
	s.sections, s.shared, s.general, s.several = s.sections[:0], s.shared[:0], 0, 0
	s.sectOf = grow(s.sectOf, kinds*len(f.meters))
	clear(s.sectOf)
	s.meterNo = grow(s.meterNo, len(f.meters))
	clear(s.meterNo)
	s.beside, s.groupOf = grow(s.beside, len(f.charges)), grow(s.groupOf, len(f.charges))
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
			f.putInSections(int32(i), g)
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

// putInSections adds the charges of g, which is group i, to their sections.
func (f *flight) putInSections(i int32, g *group) {
	kind := uint8(0)
	if g.request = 0; g.n > 1 {
		f.several++
		kind, g.request = kindSeveral, f.several
	}
	for c := g.first; c < g.first+g.n; c++ {
		of := kind
		if f.charges[c].Mode == weir.Always {
			of |= kindAlways
		}
		// More than any state can hold is as much as it can hold.
		cost, slot := min(f.charges[c].Cost, weir.MaxUsed), kinds*int(f.meterOf[c])+int(of)
		if cost == 1 {
			slot += kindUnit
		}
		at := &f.sectOf[slot]
		if *at == 0 || f.sections[*at-1].cost != cost {
			f.sections = append(f.sections, section{meter: f.meterOf[c], kind: of, cost: cost, head: -1})
			*at = int32(len(f.sections))
		}
		s := &f.sections[*at-1]
		f.groupOf[c], f.beside[c], s.head = i, s.head, c
		s.n++
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
