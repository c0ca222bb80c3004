package keytable

import (
	"math/bits"
	"reflect"
	"sync"

	"github.com/weirlimit/weir/internal/prefetch"
)

// maxShards is how many parts a large table has: enough that two goroutines
// seldom want the same.
const maxShards = 64

// Table is a bounded table of records. Make one with New.
type Table[R any] struct {
	shards []Shard[R]
}

// New returns a table of at most capacity records; 1 at least.
func New[R any](capacity int) *Table[R] {
	capacity = max(capacity, 1)
	n := 1
	for n < maxShards && n*64 <= capacity { // small tables are not cut up: a part would be full too soon
		n *= 2
	}
	t := &Table[R]{shards: make([]Shard[R], n)}
	// Memory that no cell was ever put into is not used: it need not grow, and so
	// a record never moves.
	cells := make([]cell[R], capacity)
	for i := range t.shards {
		size := capacity / n
		if i < capacity%n {
			size++
		}
		t.shards[i].init(cells[:0:size])
		cells = cells[size:]
	}
	return t
}

// Shards is how many shards there are.
func (t *Table[R]) Shards() int { return len(t.shards) }

// Place is the number, from 0, of the shard that id's record is in.
func (t *Table[R]) Place(id ID) int {
	return int(id.hi >> 32 & uint64(len(t.shards)-1)) // a power of two: a division is half of a search
}

// Lock returns the shard that id's record is in, locked. Its owner calls Unlock
// and holds no second shard: they have no order.
func (t *Table[R]) Lock(id ID) *Shard[R] { return t.LockPlace(t.Place(id)) }

// LockPlace returns the shard of that number, locked.
func (t *Table[R]) LockPlace(place int) *Shard[R] {
	s := &t.shards[place]
	s.mu.Lock()
	return s
}

// Len is how many records there are.
func (t *Table[R]) Len() int {
	n := 0
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		n += s.used
		s.mu.Unlock()
	}
	return n
}

// Shard is a part of a table. All of its methods need its lock.
type Shard[R any] struct {
	mu    sync.Mutex
	index []uint32 // open addressing, linear probing; see entry; 0 for none; see grow
	cells []cell[R]
	bits  int   // of a cell's number + 1
	free  int32 // first of the cells that were dropped, by number + 1; chained by next
	used  int
	hand  int      // of the clock
	_     [40]byte // to two cache lines: a lock is not on its neighbour's
}

// cell is a cache line, with a record of 40 bytes.
type cell[R any] struct {
	id      ID
	touched bool // since the hand went by
	held    bool
	next    int32
	rec     R
}

func (s *Shard[R]) init(cells []cell[R]) {
	s.cells, s.bits = cells, bits.Len(uint(cap(cells)))
	s.index = make([]uint32, indexSize(min(cap(cells), firstSize)))
}

// firstSize is how many records an index is made for at first. One for all that
// may come would be looked up in memory that no cache has, also by those who never
// have many.
const firstSize = 64

// indexSize is the size of an index of n records: a power of two, of which they
// take two thirds at most.
func indexSize(n int) int { return 1 << bits.Len(uint(n*3/2+1)) }

// Unlock gives the shard back. Records of it are not to be touched any more.
func (s *Shard[R]) Unlock() { s.mu.Unlock() }

// entry is what the index holds of the n-th cell, which is id's: the number in the
// lower bits, and above it as much of the ID as fits. A search need not look at the
// cells of others, which are seldom in a cache.
func (s *Shard[R]) entry(id ID, n int) uint32 { return uint32(id.lo)<<s.bits | uint32(n+1) }

// number is that of an entry's cell.
func (s *Shard[R]) number(entry uint32) int { return int(entry&(1<<s.bits-1)) - 1 }

func (s *Shard[R]) home(id ID) int { return int(id.lo & uint64(len(s.index)-1)) }

// homeOf is the home of who has an entry.
func (s *Shard[R]) homeOf(entry uint32) int {
	if len(s.index) <= 1<<(32-s.bits) {
		return int(entry>>s.bits) & (len(s.index) - 1)
	}
	return s.home(s.cells[s.number(entry)].id)
}

// find returns where in the index id is, or where it would be.
func (s *Shard[R]) find(id ID) (at int, ok bool) {
	for at, ok = s.guess(id, s.home(id)); ok && s.cells[s.number(s.index[at])].id != id; {
		at, ok = s.guess(id, at+1)
	}
	return at, ok
}

// guess returns where in the index, from a place on, somebody is who may be id, as
// far as the index knows; or where id would be.
func (s *Shard[R]) guess(id ID, from int) (at int, ok bool) {
	mask, want := len(s.index)-1, s.entry(id, -1)
	for at = from & mask; ; at = (at + 1) & mask {
		if e := s.index[at]; e == 0 || e>>s.bits<<s.bits == want {
			return at, e != 0
		}
	}
}

// Full tells whether a new record takes the place of another.
func (s *Shard[R]) Full() bool { return s.free == 0 && len(s.cells) == cap(s.cells) }

// Expect has the memory of id's record fetched, and returns what PutExpected is
// given; less than 0 says that there is no record. Who calls it for several before
// the first is put waits for all of them at once.
func (s *Shard[R]) Expect(id ID) (hint int) {
	at, ok := s.guess(id, s.home(id))
	if !ok {
		return -1
	}
	hint = s.number(s.index[at])
	prefetch.Lines(reflect.ValueOf(&s.cells[hint]).Pointer())
	return hint
}

// PutExpected is Put for who expected id.
func (s *Shard[R]) PutExpected(id ID, hint int) (r *R, fresh bool) {
	if hint >= 0 {
		if c := &s.cells[hint]; c.id == id {
			c.touched = true
			return &c.rec, false
		}
	}
	return s.Put(id)
}

// Find returns the record of id, or nil. It counts as use.
func (s *Shard[R]) Find(id ID) *R {
	at, ok := s.find(id)
	if !ok {
		return nil
	}
	c := &s.cells[s.number(s.index[at])]
	c.touched = true
	return &c.rec
}

// Put returns the record of id, and whether it is a new one, which is zero. A
// full table gives another one up for it.
func (s *Shard[R]) Put(id ID) (r *R, fresh bool) {
	at, ok := s.find(id)
	if !ok {
		switch {
		case s.Full():
			s.evict()
			at, _ = s.find(id) // the index has moved
		case indexSize(s.used+1) > len(s.index):
			s.grow()
			at, _ = s.find(id)
		}
		s.index[at] = s.entry(id, s.take(id))
	}
	c := &s.cells[s.number(s.index[at])]
	c.touched = ok // one that is met once only is the first to go
	return &c.rec, !ok
}

// grow makes the index twice as large. Cells stay where they are.
func (s *Shard[R]) grow() {
	s.index = make([]uint32, 2*len(s.index))
	for i := range s.cells {
		c := &s.cells[i]
		if !c.held {
			continue
		}
		at, _ := s.find(c.id)
		s.index[at] = s.entry(c.id, i)
	}
}

// take returns the number of an empty cell, now id's.
func (s *Shard[R]) take(id ID) int {
	n := int(s.free) - 1
	if n >= 0 {
		s.free = s.cells[n].next
	} else {
		s.cells = s.cells[:len(s.cells)+1]
		n = len(s.cells) - 1
	}
	s.cells[n] = cell[R]{id: id, held: true}
	s.used++
	return n
}

// evict drops the first record that the hand meets and nobody used since it last
// came by.
func (s *Shard[R]) evict() {
	for {
		c := &s.cells[s.hand]
		s.hand = (s.hand + 1) % len(s.cells)
		if c.held && !c.touched {
			s.Drop(c.id)
			return
		}
		c.touched = false
	}
}

// Drop forgets id.
func (s *Shard[R]) Drop(id ID) {
	at, ok := s.find(id)
	if !ok {
		return
	}
	n := s.number(s.index[at])
	s.cells[n] = cell[R]{next: s.free}
	s.free = int32(n + 1)
	s.used--
	s.close(at)
}

// close moves those behind a gap in the index into it, so that a search does
// not end there.
func (s *Shard[R]) close(gap int) {
	mask := len(s.index) - 1
	for at := (gap + 1) & mask; s.index[at] != 0; at = (at + 1) & mask {
		home := s.homeOf(s.index[at])
		if (at-home)&mask >= (at-gap)&mask {
			s.index[gap] = s.index[at]
			gap = at
		}
	}
	s.index[gap] = 0
}

// Each calls f for every record, shard by shard, each under its lock; f must
// not call the table. It stops when f returns false.
func (t *Table[R]) Each(f func(ID, *R) bool) {
	for i := range t.shards {
		if !t.shards[i].each(f) {
			return
		}
	}
}

func (s *Shard[R]) each(f func(ID, *R) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.cells {
		if c := &s.cells[i]; c.held && !f(c.id, &c.rec) {
			return false
		}
	}
	return true
}
