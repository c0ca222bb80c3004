package redisstore

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// Who is answered among many is told before, once; those who ask the same as
// another need not be. All are answered, in however large a flight.
func TestSoonComesBeforeTheAnswer(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(1_000_000)
	admit(t, s, one("warm", m))
	for _, n := range []int{1, ahead - 1, ahead, ahead + 1, 500} {
		var all sync.WaitGroup
		var told atomic.Int64
		for i := range n {
			for same := range 2 {
				all.Add(1)
				var soon, done atomic.Int32
				b := &weir.Batch{Entries: []weir.Entry{one(fmt.Sprint("k", i), m)}}
				b.Soon = func() {
					told.Add(1)
					if soon.Add(1) > 1 || done.Load() > 0 {
						t.Errorf("%d: told %d times, answered %d", i, soon.Load(), done.Load())
					}
				}
				s.Submit(b, func(b *weir.Batch) {
					if e := &b.Entries[0]; e.Err != nil || !e.Admitted || done.Add(1) > 1 {
						t.Errorf("%d, %d: admitted %v, %v", i, same, e.Admitted, e.Err)
					}
					all.Done()
				})
			}
		}
		all.Wait()
		if got := told.Load(); got < int64(n) || got > int64(2*n) {
			t.Errorf("%d of 2 x %d were told", got, n)
		}
	}
	for i := range 500 {
		want := int64(2)
		for _, n := range []int{1, ahead - 1, ahead, ahead + 1} {
			if i < n {
				want += 2
			}
		}
		if got := used(t, s, fmt.Sprint("k", i), m); got != want {
			t.Errorf("k%d has %d units in use, want %d", i, got, want)
		}
	}
}
