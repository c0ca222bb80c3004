package memstore

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// shared is what all shards of a store have in common.
type shared struct {
	clock
	seed    maphash.Seed
	maxKeys int64
	_       [64]byte // what changes stands on lines of its own
	// keys counts cells in use. A cell's place is counted before it is used, so
	// that the cap is never passed, not even for a moment.
	keys atomic.Int64
	// soonest is a lower bound of all due instants; see Store.sweepDue.
	soonest atomic.Uint32
	_       [64]byte
}

// reserve counts a place if there is one.
func (c *shared) reserve() bool {
	for {
		n := c.keys.Load()
		if n >= c.maxKeys {
			return false
		}
		if c.keys.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// shard is a part of the store with a lock of its own. Methods are called with
// mu held unless they say otherwise.
type shard struct {
	// What every check needs is one cache line, and each table another.
	mu      sync.Mutex
	closed  bool
	shared  *shared
	soonest *atomic.Uint32       // no key here expires before; written with mu held
	runs    []algo.Run           // scratch
	spare   atomic.Pointer[call] // scratch; needs no lock
	tables  [tables]table
	spots   [tables]spot // of the tables; needs no lock

	slab   slab
	replay replayLog
	counts counts
	_      [64]byte // the neighbour's lock is on a line of its own
}

// counts are a shard's part of Stats.
type counts struct {
	evicted, expired, replayed, forgotten uint64
}

// find returns the cell of k and its number in k's table, or nil.
func (s *shard) find(k *key) (cell, int) {
	t := &s.tables[k.table()]
	if t.n == 0 {
		return nil, 0
	}
	label := k.label()
	for i := t.home(k.hash); ; i = t.after(i) {
		c := t.at(i)
		if c.isEmpty() {
			return nil, 0
		}
		if c.label() == label && s.holds(c, k) {
			return c, i
		}
	}
}

// holds tells whether a cell of k's table with k's label is that of k.
func (s *shard) holds(c cell, k *key) bool {
	if n := len(k.text); n <= maxInline {
		return string(c[headBytes:headBytes+n]) == k.text
	}
	return string(s.slab.at(c.spilled(), len(k.text))) == k.text
}

// keyAt is the key in a cell of a table, as it is stored.
func (s *shard) keyAt(table int, c cell) []byte {
	n := int(c.size())
	if n == 0 {
		n = len(digest{})
	}
	if table == spilled {
		return s.slab.at(c.spilled(), n)
	}
	return c[headBytes : headBytes+n]
}

// hasher tells the hash of cells that were met in their table, not looked up.
type hasher struct {
	shard *shard
	table int
}

func (h hasher) hash(c cell) uint64 {
	return maphash.Bytes(h.shard.shared.seed, h.shard.keyAt(h.table, c))
}

// write is a state that changed, to be stored.
type write struct {
	key    *key
	meter  *weir.Meter
	state  *algo.State
	expiry weir.Micros // of the state
}

// insert makes a cell for a state that is not empty and whose place is reserved.
func (s *shard) insert(w *write) {
	k := w.key
	table := k.table()
	t := &s.tables[table]
	if t.full() {
		t.grow(cellSizeOf(table), hasher{s, table})
	}
	i := t.vacant(k.hash)
	c := t.at(i)
	if table == spilled {
		ref := s.slab.alloc(len(k.text))
		copy(s.slab.at(ref, len(k.text)), k.text)
		c.setWord(3, uint64(ref))
	} else {
		copy(c[headBytes:], k.text)
	}
	s.lower(t, i, s.save(w, c))
}

// update writes a state into its cell, number i of the key's table.
func (s *shard) update(w *write, c cell, i int) {
	table := w.key.table()
	if w.state.Used == 0 {
		s.drop(table, i)
		return
	}
	had := c.due()
	if due := s.save(w, c); due < had {
		s.lower(&s.tables[table], i, due)
	}
}

// save writes all of a cell but the key, and returns when it is due.
func (s *shard) save(w *write, c cell) tick {
	first, frac := uint64(w.state.At), uint64(w.state.Frac)
	if w.meter.Machine >= weir.Runs || c.hasRuns() {
		first, frac = s.moveRuns(w, c)
	}
	due := s.shared.due(w.expiry)
	c.save(w.state, first, frac, due, shareOf(w.meter, w.state.Used), w.key.label())
	return due
}

// drop forgets a cell and gives its place back.
func (s *shard) drop(table, i int) {
	s.detach(table, i)
	s.shared.keys.Add(-1)
}

// detach forgets a cell and keeps its place for another. Cells behind it may
// move.
func (s *shard) detach(table, i int) {
	t := &s.tables[table]
	c := t.at(i)
	if c.hasRuns() {
		ref, _ := c.runs()
		s.slab.free(ref)
	}
	if table == spilled {
		s.slab.free(c.spilled())
	}
	t.remove(i, hasher{s, table})
}

// len is how many keys there are.
func (s *shard) len() int {
	n := 0
	for i := range s.tables {
		n += int(s.tables[i].n)
	}
	return n
}
