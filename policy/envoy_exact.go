package policy

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/weirlimit/weir/internal/prefetch"
)

// exactIndex is a hash table of nodes by value: open addressing, linear probing,
// at most three quarters full. It is small, so that most of it is in the cache, and
// leads to a place where all else lies that a request needs.
type exactIndex struct {
	slots  []uint32 // a power of two; the number of a place from 1, and above it a tag; 0 is free
	tag    uint32   // which bits of a slot are the tag, the same as in the upper half of the hash
	places []exactPlace
}

// exactPlace is a value and the rule that it leads to, side by side: the rest of
// its keys, the value and the first half of the rule are four cache lines.
type exactPlace struct {
	rest  [64]byte // what keys of the rule end in, if it is that short
	value exactValue
	rule  Rule
	_     [ruleRoom - unsafe.Sizeof(Rule{})]byte
}

// ruleRoom is what a rule has in a place.
const ruleRoom = 256

// exactValue is a cache line.
type exactValue struct {
	node *envoyNode
	// ahead is the end of the way of most requests that come here: the node below
	// that takes any value of key, if there is no other below, or else node.
	ahead *envoyNode
	key   *string // nil when ahead is node
	rule  *Rule   // of ahead
	by    counting
	takes bool  // ahead replaces others
	size  uint8 // of the value, or longValue
	text  [29]byte
}

const longValue = 255

// fill makes p the place of a node, and moves the rule of what is ahead here: no
// other place has it ahead.
func (p *exactPlace) fill(n *envoyNode, value string, hash uint64) {
	v := &p.value
	v.node, v.ahead, v.size = n, n, longValue
	if below := &n.next.some; below.exact == nil && below.bare != nil { // exact has values with a '*' too
		v.ahead, v.key = below.bare, below.bare.word
	}
	v.by, v.takes = v.ahead.counts, v.ahead.replaces
	if r := v.ahead.rule; r != nil {
		p.rule = *r
		if rest := r.first.rest; rest != "" && len(rest) <= len(p.rest) {
			p.rule.first.rest = view(p.rest[:copy(p.rest[:], rest)])
		}
		v.ahead.rule, v.rule = &p.rule, &p.rule
	}
	if len(value) <= len(v.text) {
		v.size = uint8(copy(v.text[:], value))
	} else {
		binary.LittleEndian.PutUint64(v.text[:], hash)
	}
}

// found is the end of ahead.
func (v *exactValue) found() found {
	return found{node: v.ahead, rule: v.rule, by: v.by, replaces: v.takes}
}

// farPlaces: the rules of fewer are in the cache, and need not be fetched.
const farPlaces = 256

// fetch asks for all of the place that a decision needs, at once.
func (p *exactPlace) fetch() {
	at := uintptr(unsafe.Pointer(p))
	prefetch.Lines(at)
	prefetch.Lines(at + unsafe.Offsetof(p.rule))
}

// bytesOf is the memory of places.
func bytesOf(places []exactPlace) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(places))), uintptr(len(places))*unsafe.Sizeof(exactPlace{}))
}

// takePlaces takes as many from room, which others have the rest of.
func takePlaces(room *[]exactPlace, n int) []exactPlace {
	if room == nil || n > len(*room) {
		return make([]exactPlace, 0, n)
	}
	taken := (*room)[:0:n]
	*room = (*room)[n:]
	return taken
}

// countValues is how many of descriptors, and of those below, have a value.
func countValues(descriptors []EnvoyDescriptor) int {
	n := 0
	for i := range descriptors {
		if descriptors[i].Value != "" {
			n++
		}
		n += countValues(descriptors[i].Descriptors)
	}
	return n
}

// newExactIndex makes the index of nodes, with places from room. It moves rules:
// see exactPlace.
func newExactIndex(nodes map[string]*envoyNode, room *[]exactPlace) *exactIndex {
	n := 2
	for 3*n < 4*len(nodes) {
		n *= 2
	}
	x := &exactIndex{slots: make([]uint32, n), places: takePlaces(room, len(nodes))}
	x.tag = ^uint32(0) << bits.Len(uint(len(nodes)))
	for value, node := range nodes {
		hash := hashOf(value)
		x.places = x.places[:len(x.places)+1]
		x.places[len(x.places)-1].fill(node, value, hash)
		i := x.home(hash)
		for x.slots[i] != 0 {
			i = (i + 1) & (n - 1)
		}
		x.slots[i] = uint32(hash>>32)&x.tag | uint32(len(x.places))
	}
	return x
}

// hashOf spreads values over a table. It has no secret: what is in the table is
// the operator's, and callers only look there.
func hashOf(text string) uint64 {
	const a, b = 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9
	h := uint64(len(text)) * a
	last := uint64(0)
	if len(text) >= 8 {
		last = eight(text[len(text)-8:]) // some of it again, rather than byte by byte
		for ; len(text) > 8; text = text[8:] {
			hi, lo := bits.Mul64(h^eight(text), b)
			h = hi ^ lo
		}
	} else {
		for i := range len(text) {
			last = last<<8 | uint64(text[i])
		}
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
	if v := x.place(value); v != nil {
		return v.node
	}
	return nil
}

// place returns that of a value, or nil.
func (x *exactIndex) place(value string) *exactValue {
	hash := hashOf(value)
	for i, p := x.seek(hash, x.home(hash)); p != nil; i, p = x.seek(hash, i+1) {
		if len(x.places) >= farPlaces {
			p.fetch()
		}
		if p.value.holds(value, hash) {
			return &p.value
		}
	}
	return nil
}

// seek returns the first slot, from one on, whose tag is that of hash, and the place
// that it leads to, or nil.
func (x *exactIndex) seek(hash uint64, from int) (int, *exactPlace) {
	for i := from & (len(x.slots) - 1); ; i = (i + 1) & (len(x.slots) - 1) {
		slot := x.slots[i]
		if slot == 0 {
			return i, nil
		}
		if (slot^uint32(hash>>32))&x.tag == 0 {
			return i, &x.places[slot&^x.tag-1]
		}
	}
}

func (v *exactValue) holds(value string, hash uint64) bool {
	if len(value) <= len(v.text) {
		return int(v.size) == len(value) && string(v.text[:len(value)]) == value
	}
	return v.size == longValue && binary.LittleEndian.Uint64(v.text[:]) == hash && v.node.value == value
}
