package redisstore

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// TestAnswering: callbacks come between Answering and Answered, of which there
// is one pair for each round trip. Not so of several entries whose answers come
// while they are still submitted: then it is the submitter who calls back.
func TestAnswering(t *testing.T) {
	srv := redistest.Start(t)
	var depth, began, ended, trips atomic.Int64
	s := open(t, Options{Addrs: []string{srv.Addr()}, Hooks: weir.Hooks{
		Answering: func() { began.Add(1); depth.Add(1) },
		Answered:  func() { depth.Add(-1); ended.Add(1) },
		StoreCall: func(weir.StoreCall) { trips.Add(1) },
	}})
	m := still(1_000_000)
	var out sync.WaitGroup
	const calls = 500
	out.Add(calls)
	for range calls {
		b := &weir.Batch{Entries: []weir.Entry{one("a", m)}}
		s.Submit(b, func(b *weir.Batch) {
			if b.Entries[0].Err == nil && depth.Load() == 0 {
				t.Error("called back outside")
			}
			out.Done()
		})
	}
	out.Wait()
	if err := s.Close(); err != nil { // and its goroutines are done
		t.Fatal(err)
	}
	if began.Load() == 0 || began.Load() != ended.Load() || began.Load() != trips.Load() || began.Load() >= calls {
		t.Errorf("%d began, %d ended, in %d round trips", began.Load(), ended.Load(), trips.Load())
	}
}
