package memstore_test

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"unsafe"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

// heap is what is reachable after a collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// keyMaker makes keys of one length in memory that it uses again.
type keyMaker []byte

func (k keyMaker) key(i int) string {
	text := strconv.AppendInt(k[:0], int64(i), 10)
	for j := len(text); j < len(k); j++ {
		k[j] = '.'
	}
	return unsafe.String(&k[0], len(k))
}

// The bar is fewer than 64 bytes a key at a million keys, the key's own aside.
func TestHeapPerKeyAtAMillion(t *testing.T) {
	m := meter(t, "1000/d gcra")
	for _, c := range []struct{ n, size int }{{1_000_000, 32}, {100_000, 12}, {100_000, 48}} {
		n, size := c.n, c.size
		k := make(keyMaker, size)
		before := heap()
		s := memstore.New(memstore.WithMaxKeys(n)) // as many keys a shard as at a million
		for i := range n {
			take(t, s, k.key(i), m, 1)
		}
		after := heap()
		if s.Len() != n || s.Stats().Evicted > 0 {
			t.Fatalf("%+v, want %d keys", s.Stats(), n)
		}
		per := float64(after-before)/float64(n) - float64(size)
		t.Logf("%d keys of %d bytes: %.1f bytes each besides", n, size, per)
		if per >= 64 {
			t.Errorf("%d keys of %d bytes: %.1f bytes each besides, want fewer than 64", n, size, per)
		}
		runtime.KeepAlive(s)
	}
}

// What a store holds is few objects: pages of keys and runs, and tables.
func TestObjectsAtManyKeys(t *testing.T) {
	m := meter(t, "10/m")
	k := make(keyMaker, 100) // spilled, and with runs: one would need no block
	var before, after runtime.MemStats
	heap()
	runtime.ReadMemStats(&before)
	s := memstore.New()
	const n = 30_000
	for i := range 2 * n {
		take(t, s, k.key(i%n), m, 1)
	}
	heap()
	runtime.ReadMemStats(&after)
	if objects := after.HeapObjects - before.HeapObjects; objects > n/5 {
		t.Errorf("%d keys are %d objects for the collector", n, objects)
	}
	runtime.KeepAlive(s)
}

// An empty store is small, and one that was full becomes so again.
func TestMemoryIsGivenBack(t *testing.T) {
	clock := newTestClock()
	before := heap()
	s := memstore.New(clock.option())
	if empty := heap() - before; empty > 1<<20 {
		t.Errorf("an empty store takes %d bytes", empty)
	}
	m := meter(t, "10/m")
	const n = 50_000
	for i := range n {
		take(t, s, fmt.Sprintf("tenant:%08d", i), m, 1)
	}
	full := heap() - before
	clock.move(weir.Hour)
	for i := range n / 10 {
		take(t, s, fmt.Sprintf("another:%08d", i), m, 1)
	}
	// Tables shrink by steps, so that a store which breathes is not resized with
	// every breath: less than half is what can be asked.
	if now := heap() - before; now > full/2 {
		t.Errorf("%d bytes are held for a tenth of the keys that took %d", now, full)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if closed := int64(heap()) - int64(before); closed > 1<<20 {
		t.Errorf("a closed store takes %d bytes", closed)
	}
	runtime.KeepAlive(s)
}
