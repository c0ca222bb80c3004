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
	node  *envoyNode // nil: the slot is free
	ahead ahead
	size  uint8    // of the value, or longValue
	text  [31]byte // the value, or its hash
}

const longValue = 255

// ahead is the memory that a request needs that goes on from a node: that of the
// node below which takes any value, or else of the node itself. It is asked for
// at once, and not found step by step.
type ahead struct {
	node *envoyNode
	rule *Rule
	rest *byte
}

func aheadOf(n *envoyNode) ahead {
	if bare := n.next.some.bare; bare != nil {
		n = bare
	}
	a := ahead{node: n, rule: n.rule}
	if n.rule != nil {
		a.rest = unsafe.StringData(n.rule.first.rest)
	}
	return a
}

// farSlots: the rules of a smaller table are in the cache, and need not be
// fetched.
const farSlots = 512

func (s *exactSlot) fetch() {
	prefetch.Lines(uintptr(unsafe.Pointer(s.node)))
	prefetch.Lines(uintptr(unsafe.Pointer(s.ahead.node)))
	prefetch.Lines(uintptr(unsafe.Pointer(s.ahead.rule)))
	prefetch.Lines(uintptr(unsafe.Pointer(s.ahead.rest)))
}

func newExactIndex(nodes map[string]*envoyNode) *exactIndex {
	n := 2
	for n < 2*len(nodes) {
		n *= 2
	}
	x := &exactIndex{slots: make([]exactSlot, n)}
	for value, node := range nodes {
		s := exactSlot{node: node, ahead: aheadOf(node), size: longValue}
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
			return s.node
		}
	}
}

func (s *exactSlot) holds(value string, hash uint64) bool {
	if len(value) <= len(s.text) {
		return int(s.size) == len(value) && string(s.text[:len(value)]) == value
	}
	return s.size == longValue && binary.LittleEndian.Uint64(s.text[:]) == hash && s.node.value == value
}
