package redisstore

import "github.com/weirlimit/weir"

// section is the requests of a flight with one charge that counts, under one
// meter, each on a key that no other group touches. They can be decided in any
// order, and with little: see commit.lua.
type section struct {
	meter  uint16
	always bool
	head   int32 // the first of its groups; the next is group.beside
	n      int32
}

// sorted is how the groups of a flight are laid out for the script.
type sorted struct {
	sections []section
	sectOf   []int32  // of each meter, enforced and always: its section + 1, or 0
	shared   []uint16 // the meters of groups that are in no section
	meterNo  []uint16 // of each meter: its place among shared, from 1, or 0
	touches  []uint8  // of each key: the charges that name it; two are as many as more
	general  int      // groups that are in no section
}

// sort tells apart what the script decides by shorter ways.
func (f *flight) sort() {
	s := &f.sorted
	s.sections, s.shared, s.general = s.sections[:0], s.shared[:0], 0
	s.sectOf = grow(s.sectOf, 2*len(f.meters))
	clear(s.sectOf)
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
		if g.inSection() {
			f.putInSection(int32(i), g)
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

func (f *flight) putInSection(i int32, g *group) {
	m, always := f.meterOf[g.first], f.charges[g.first].Mode == weir.Always
	at := 2 * int(m)
	if always {
		at++
	}
	if f.sectOf[at] == 0 {
		f.sections = append(f.sections, section{meter: m, always: always, head: -1})
		f.sectOf[at] = int32(len(f.sections))
	}
	s := &f.sections[f.sectOf[at]-1]
	g.beside, s.head = s.head, i
	s.n++
}

// inSection tells whether the script finds g in a section.
func (g *group) inSection() bool { return g.own && g.n == 1 }

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
