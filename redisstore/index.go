package redisstore

import "hash/maphash"

// maxCount is the most entries a group can say it has.
const maxCount = 1<<16 - 1

// index numbers distinct strings in the order of their first appearance. Their
// bytes are in an arena that several indexes share. Clearing it is as cheap as
// what was put in.
type index struct {
	spans []span
	table []int32 // open addressing: number + 1, or 0
	used  []int32 // the places of table that are taken
}

type span struct {
	hash     uint64
	from, to int32
}

func (x *index) len() int { return len(x.spans) }

func (x *index) reset() {
	for _, at := range x.used {
		x.table[at] = 0
	}
	x.spans, x.used = x.spans[:0], x.used[:0]
}

// intern returns the number of prefix+name.
func (x *index) intern(arena *[]byte, prefix, name string) uint16 {
	if 2*len(x.spans) >= len(x.table) {
		x.grow()
	}
	h := maphash.String(seed, name)
	if prefix != "" {
		h = mix(h, maphash.String(seed, prefix))
	}
	mask := len(x.table) - 1
	at := int(h) & mask
	for ; x.table[at] != 0; at = (at + 1) & mask {
		n := x.table[at] - 1
		sp := &x.spans[n]
		if sp.hash == h && int(sp.to-sp.from) == len(prefix)+len(name) &&
			string((*arena)[sp.from:int(sp.from)+len(prefix)]) == prefix &&
			string((*arena)[int(sp.from)+len(prefix):sp.to]) == name {
			return uint16(n)
		}
	}
	from := int32(len(*arena))
	*arena = append(append(*arena, prefix...), name...)
	x.spans = append(x.spans, span{hash: h, from: from, to: int32(len(*arena))})
	x.table[at] = int32(len(x.spans))
	x.used = append(x.used, int32(at))
	return uint16(len(x.spans) - 1)
}

func (x *index) grow() {
	size := max(64, 2*len(x.table))
	x.table = make([]int32, size)
	x.used = x.used[:0]
	for n := range x.spans {
		at := int(x.spans[n].hash) & (size - 1)
		for x.table[at] != 0 {
			at = (at + 1) & (size - 1)
		}
		x.table[at] = int32(n) + 1
		x.used = append(x.used, int32(at))
	}
}

// shapes finds a group that asks the same as another.
type shapes struct {
	table  []int32 // group + 1, or 0
	used   []int32
	hashes []uint64
}

func (x *shapes) reset() {
	for _, at := range x.used {
		x.table[at] = 0
	}
	x.used, x.hashes = x.used[:0], x.hashes[:0]
}

func (x *shapes) find(f *flight, g *group) int32 {
	found := int32(-1)
	if len(x.table) == 0 {
		return found
	}
	mask := len(x.table) - 1
	for at := int(g.hash) & mask; x.table[at] != 0; at = (at + 1) & mask {
		if n := x.table[at] - 1; f.same(&f.groups[n], g) {
			found = n // the latest one is what an ordered entry may join
		}
	}
	return found
}

func (x *shapes) put(hash uint64, n int32) {
	if 2*len(x.used) >= len(x.table) {
		old := x.table
		size := max(64, 2*len(old))
		x.table = make([]int32, size)
		groups := make([]int32, len(x.used))
		for i, at := range x.used {
			groups[i] = old[at]
		}
		x.used = x.used[:0]
		for i, g := range groups {
			x.place(x.hashes[i], g)
		}
	}
	x.hashes = append(x.hashes, hash)
	x.place(hash, n+1)
}

func (x *shapes) place(hash uint64, v int32) {
	mask := len(x.table) - 1
	at := int(hash) & mask
	for x.table[at] != 0 {
		at = (at + 1) & mask
	}
	x.table[at] = v
	x.used = append(x.used, int32(at))
}
