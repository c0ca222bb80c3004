package memstore

import (
	"hash/maphash"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/prefetch"
)

// spot is where a table's cells are, for who has not locked it. The two may be of
// two tables, one of which is gone: they serve to ask for memory and for nothing
// else.
type spot struct {
	cells atomic.Uintptr
	slots atomic.Uint32
}

func (p *spot) set(t *table) {
	p.slots.Store(t.slots)
	p.cells.Store(uintptr(unsafe.Pointer(unsafe.SliceData(t.cells))))
}

// Started is what DecideNow's instants are counted from.
func (s *Store) Started() time.Time { return s.start }

// DecideNow is Submit without the callback, and for a caller that has just read
// the clock: at is the time since Started, by the monotonic clock. A store with a
// clock of its own goes by that. hint is what Expect returned for the batch's only
// key, or 0.
func (s *Store) DecideNow(b *weir.Batch, at time.Duration, hint uint64) {
	if s.read != nil {
		s.decide(b)
		return
	}
	now, ok := s.at(max(at, 0), b.Deadline)
	s.decideAt(b, now, ok, hint)
}

// ChargeNow is DecideNow for an entry of one charge and no id, without the entry:
// what is Take for Submit. It returns false, and has done nothing, where that is
// not enough: the charge has a mode of its own, or two names, or is not valid.
func (s *Store) ChargeNow(c *weir.Charge, at time.Duration, deadline time.Time, hint uint64, o *weir.Outcome) (done bool, err error) {
	if s.read != nil || !isPlain(c) {
		return false, nil
	}
	now, ok := s.at(max(at, 0), deadline)
	if s.closed.Load() || !ok {
		return false, nil // DecideNow has the words for it
	}
	return true, s.decidePlain(c, now, hint, o)
}

// Expect says that a batch with this key alone comes soon: its cell is fetched
// meanwhile. What it returns is to be given to DecideNow; 0 is nothing.
func (s *Store) Expect(text string) (hint uint64) {
	if len(text) > maxStored {
		return 0
	}
	hash := maphash.String(s.seed, text)
	s.fetch(tableOf(len(text)), hash)
	return hash
}

// Approach is Expect for who has more keys to tell of before: it has that memory
// fetched which leads to the cell, and Fetch, if it returned not 0, the cell. Many
// so wait for their memory at once.
func (s *Store) Approach(text string) (hint uint64) {
	if len(text) > maxStored {
		return 0
	}
	hash := maphash.String(s.seed, text)
	sh, n := s.shardOf(hash), tableOf(len(text))
	prefetch.Lines(uintptr(unsafe.Pointer(&sh.spots[n])))
	prefetch.Lines(uintptr(unsafe.Pointer(sh)))
	prefetch.Lines(uintptr(unsafe.Pointer(&sh.tables[n])))
	return hash
}

// Fetch is the second half of Approach.
func (s *Store) Fetch(text string, hint uint64) { s.fetch(tableOf(len(text)), hint) }

func (s *Store) fetch(table int, hash uint64) {
	p := &s.shardOf(hash).spots[table]
	home := uint64(uint32(hash)) * uint64(p.slots.Load()) >> 32
	prefetch.Lines(p.cells.Load() + uintptr(home)*uintptr(cellSizeOf(table)))
}
