package memstore

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// replayLog remembers the answers of admitted entries that had an id, oldest
// first, in chunks of bytes that hold no pointer. An answer is
//
//	size 2  owner 16  now 8  outcomes
//
// An index finds it by the hash of its owner. A reference is the chunk's
// sequence number above the offset in it; a chunk's first byte is not used, so
// that no reference is 0.
type replayLog struct {
	index  index
	max    int      // answers held at most
	ring   [][]byte // chunks by sequence number, modulo the ring's length
	first  uint32   // sequence number of the oldest chunk
	chunks uint32   // chunks in use
	head   int      // offset of the oldest answer, in the oldest chunk
	spare  []byte   // a chunk given up, for reuse
	buf    []byte   // scratch
}

const (
	chunkBits  = 12 // an answer of 64 charges takes at most 3 KiB
	chunkBytes = 1 << chunkBits
	seqMask    = 1<<(32-chunkBits) - 1
	replayHead = 2 + 16 + 8
)

// answer is a stored answer and what follows it in its chunk.
type answer []byte

func (a answer) size() int         { return int(binary.LittleEndian.Uint16(a)) }
func (a answer) owner() algo.Owner { return algo.Owner(a[2:18]) }
func (a answer) now() weir.Micros  { return weir.Micros(binary.LittleEndian.Uint64(a[18:])) }
func (a answer) outcomes() []byte  { return a[replayHead:a.size()] }

// over tells whether the answer is no longer to be remembered.
func (a answer) over(now weir.Micros) bool { return now-a.now() >= algo.ReplayWindow }

func (l *replayLog) chunk(seq uint32) *[]byte { return &l.ring[int(seq)&(len(l.ring)-1)] }

func (l *replayLog) at(ref uint32) answer {
	return answer((*l.chunk(ref >> chunkBits))[ref&(chunkBytes-1):])
}

// find returns the answer to an owner, or nil. One whose time is over is taken
// out of the index, to be forgotten when it is the oldest.
func (l *replayLog) find(tag uint32, owner *algo.Owner, now weir.Micros) answer {
	if l.index.n == 0 {
		return nil
	}
	slots := l.index.slots
	for i := home(tag, len(slots)); slots[i] != 0; i = l.index.after(i) {
		if uint32(slots[i]>>32) != tag {
			continue
		}
		ref := uint32(slots[i])
		a := l.at(ref)
		if a.owner() != *owner {
			continue
		}
		if !a.over(now) {
			return a
		}
		l.index.remove(tag, ref)
		return nil
	}
	return nil
}

// add remembers an answer, and returns how many had to be forgotten before
// their time.
func (l *replayLog) add(seed maphash.Seed, tag uint32, owner *algo.Owner, now weir.Micros, out []weir.Outcome) int {
	b := append(l.buf[:0], 0, 0)
	b = append(b, owner[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(now))
	for i := range out {
		b = appendOutcome(b, &out[i], now)
	}
	l.buf = b
	if len(b) >= chunkBytes {
		return 1 // only of a meter that NewMeter did not make
	}
	binary.LittleEndian.PutUint16(b, uint16(len(b)))
	lost := l.trim(seed, now)
	if l.index.full() {
		l.index.grow()
	}
	seq, tail := l.tail(len(b))
	l.index.insert(tag, seq<<chunkBits|uint32(len(*tail)))
	*tail = append(*tail, b...)
	return lost
}

// trim forgets the oldest answers: one more than is added while their time is
// over, and others until there is room.
func (l *replayLog) trim(seed maphash.Seed, now weir.Micros) (lost int) {
	for range 2 {
		if l.chunks == 0 || !l.oldest().over(now) {
			break
		}
		l.pop(seed)
	}
	for l.index.n >= l.max {
		over := l.oldest().over(now)
		if l.pop(seed) && !over {
			lost++
		}
	}
	return lost
}

func (l *replayLog) oldest() answer { return answer((*l.chunk(l.first))[l.head:]) }

// pop forgets the oldest answer; there is one. It returns whether the index
// still knew it.
func (l *replayLog) pop(seed maphash.Seed) bool {
	a := l.oldest()
	owner := a.owner()
	known := l.index.remove(ownerTag(maphash.Bytes(seed, owner[:])), l.first<<chunkBits|uint32(l.head))
	l.head += a.size()
	if c := l.chunk(l.first); l.head == len(*c) {
		l.spare, *c = (*c)[:0], nil
		l.first, l.head = (l.first+1)&seqMask, 1
		l.chunks--
	}
	return known
}

// tail returns the newest chunk and its sequence number, with room for n bytes.
func (l *replayLog) tail(n int) (uint32, *[]byte) {
	if l.chunks > 0 {
		seq := (l.first + l.chunks - 1) & seqMask
		if c := l.chunk(seq); len(*c)+n <= chunkBytes {
			return seq, c
		}
	}
	if int(l.chunks) == len(l.ring) {
		l.growRing()
	}
	if l.chunks == 0 {
		l.head = 1
	}
	seq := (l.first + l.chunks) & seqMask
	l.chunks++
	c := l.chunk(seq)
	if l.spare == nil {
		l.spare = make([]byte, 0, chunkBytes)
	}
	*c, l.spare = append(l.spare, 0), nil
	return seq, c
}

func (l *replayLog) growRing() {
	old := *l
	l.ring = make([][]byte, max(4, 2*len(old.ring)))
	for i := range old.chunks {
		seq := (l.first + i) & seqMask
		*l.chunk(seq) = *old.chunk(seq)
	}
}

// ownerTag is the tag of an owner's hash, as the index keeps it.
func ownerTag(hash uint64) uint32 { return uint32(hash) }
