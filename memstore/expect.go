package memstore

import (
	"hash/maphash"
	"sync/atomic"
	"unsafe"

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

// Expect says that a batch with this key alone comes soon: the memory that it
// needs is fetched meanwhile. What it returns is to be given to DecideNow.
func (s *Store) Expect(text string) (hint uint64) {
	if len(text) > maxStored {
		return 0
	}
	hash := maphash.String(s.seed, text)
	n := tableOf(len(text))
	p := &s.shardOf(hash).spots[n]
	home := uint64(uint32(hash)) * uint64(p.slots.Load()) >> 32
	prefetch.Lines(p.cells.Load() + uintptr(home)*uintptr(cellSizeOf(n)))
	return hash
}
