package policy

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/prefetch"
)

// A request goes down the tree by steps: what a level is compiled to when it is
// whole. With many rules the wait for memory is most of what matching costs, so
// that a step is few places in it: the level of one key, as most are, stands in
// its node, and a value in the table that it is looked up in.

// step finds the node of a pair among those of one level.
type step struct {
	key  string // the only one of the level
	some siblingIndex
	more map[string]*siblingIndex // by key, when there are several; else nil
}

// siblingIndex finds the node of a value among those of one key.
type siblingIndex struct {
	exact *exactIndex // nil when there are none
	wild  *wildcards  // the same
	bare  *envoyNode
}

func newStep(level envoyLevel) step {
	var s step
	if len(level) > 1 {
		s.more = make(map[string]*siblingIndex, len(level))
	}
	for key, of := range level {
		some := newSiblingIndex(of)
		if s.more != nil {
			s.more[key] = &some
		} else {
			s.key, s.some = key, some
		}
	}
	return s
}

func newSiblingIndex(s *envoySiblings) siblingIndex {
	x := siblingIndex{bare: s.bare}
	if len(s.exact) > 0 {
		x.exact = newExactIndex(s.exact)
	}
	if len(s.wild.all) > 0 {
		x.wild = &s.wild
	}
	return x
}

// found is where a request ends, with what is needed of it: the node itself need
// not be looked at.
type found struct {
	node     *envoyNode // nil when there is none
	rule     *Rule
	by       counting
	replaces bool
}

// last finds the end of pairs, one or two, by a look at one place; it returns
// false where that is not enough.
func (s *step) last(pairs []weir.Pair) (found, bool) {
	if len(pairs) > 2 || s.more != nil || s.some.exact == nil || s.key != pairs[0].Name {
		return found{}, false
	}
	slot := s.some.exact.slot(pairs[0].Value)
	switch {
	case slot == nil:
	case len(pairs) == 1 && slot.key == nil, len(pairs) == 2 && slot.key != nil && *slot.key == pairs[1].Name:
		return slot.found(), true
	}
	return found{}, false
}

// find returns the node of a pair, or nil.
func (s *step) find(pair *weir.Pair) *envoyNode {
	if s.more == nil {
		if s.key != pair.Name {
			return nil
		}
		return s.some.find(pair.Value)
	}
	if some := s.more[pair.Name]; some != nil {
		return some.find(pair.Value)
	}
	return nil
}

// find picks among siblings as envoySiblings does.
func (x *siblingIndex) find(value string) *envoyNode {
	if x.exact != nil {
		if n := x.exact.find(value); n != nil {
			return n
		}
	}
	if x.wild != nil {
		if n := x.wild.find(value); n != nil {
			return n
		}
	}
	return x.bare
}

// exactIndex is a hash table of nodes by value: open addressing, linear probing,
// at most half full. Short values stand in it.
type exactIndex struct {
	slots []exactSlot // a power of two
}

// exactSlot is a cache line.
type exactSlot struct {
	node *envoyNode // nil: the slot is free
	// ahead is the end of the way of most requests that come here: the node below
	// that takes any value of key, if there is no other below, or else node.
	ahead *envoyNode
	key   *string // nil when ahead is node
	rule  *Rule   // of ahead
	rest  *byte   // what keys of the rule end in
	by    counting
	takes bool  // ahead replaces others
	size  uint8 // of the value, or longValue
	text  [21]byte
}

const longValue = 255

func newExactSlot(n *envoyNode) exactSlot {
	s := exactSlot{node: n, ahead: n, size: longValue}
	if below := &n.next.some; below.exact == nil && below.bare != nil { // exact has values with a '*' too
		s.ahead, s.key = below.bare, below.bare.word
	}
	s.rule, s.by, s.takes = s.ahead.rule, s.ahead.counts, s.ahead.replaces
	if s.rule != nil {
		s.rest = unsafe.StringData(s.rule.first.rest)
	}
	return s
}

// found is the end of ahead.
func (s *exactSlot) found() found {
	return found{node: s.ahead, rule: s.rule, by: s.by, replaces: s.takes}
}

// farSlots: the rules of a smaller table are in the cache, and need not be
// fetched.
const farSlots = 512

// fetch asks for the memory that comes next, at once: the rule and the rest of
// its keys.
func (s *exactSlot) fetch() {
	prefetch.Lines(uintptr(unsafe.Pointer(s.rule)))
	prefetch.Lines(uintptr(unsafe.Pointer(s.rest)))
}

func newExactIndex(nodes map[string]*envoyNode) *exactIndex {
	n := 2
	for n < 2*len(nodes) {
		n *= 2
	}
	x := &exactIndex{slots: make([]exactSlot, n)}
	for value, node := range nodes {
		s := newExactSlot(node)
		hash := hashOf(value)
		if len(value) <= len(s.text) {
			s.size = uint8(copy(s.text[:], value))
		} else {
			binary.LittleEndian.PutUint64(s.text[:], hash)
		}
		i := x.home(hash)
		for x.slots[i].node != nil {
			i = (i + 1) & (n - 1)
		}
		x.slots[i] = s
	}
	return x
}

// hashOf spreads values over a table. It has no secret: what is in the table is
// the operator's, and callers only look there.
func hashOf(text string) uint64 {
	const a, b = 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9
	h := uint64(len(text)) * a
	for len(text) >= 8 {
		hi, lo := bits.Mul64(h^eight(text), b)
		h, text = hi^lo, text[8:]
	}
	last := uint64(0)
	for i := range len(text) {
		last = last<<8 | uint64(text[i])
	}
	hi, lo := bits.Mul64(h^last^a, b)
	return hi ^ lo
}

// eight are the first eight bytes as a number.
func eight(text string) uint64 {
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
}

func (x *exactIndex) home(hash uint64) int { return int(hash & uint64(len(x.slots)-1)) }

func (x *exactIndex) find(value string) *envoyNode {
	if s := x.slot(value); s != nil {
		return s.node
	}
	return nil
}

// slot returns that of a value, or nil.
func (x *exactIndex) slot(value string) *exactSlot {
	hash := hashOf(value)
	for i := x.home(hash); ; i = (i + 1) & (len(x.slots) - 1) {
		s := &x.slots[i]
		if s.node == nil {
			return nil
		}
		if s.holds(value, hash) {
			if len(x.slots) >= farSlots {
				s.fetch()
			}
			return s
		}
	}
}

func (s *exactSlot) holds(value string, hash uint64) bool {
	if len(value) <= len(s.text) {
		return int(s.size) == len(value) && string(s.text[:len(value)]) == value
	}
	return s.size == longValue && binary.LittleEndian.Uint64(s.text[:]) == hash && s.node.value == value
}
