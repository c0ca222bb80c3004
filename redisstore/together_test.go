package redisstore

import (
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// together has a batch decided in as few flights as may be: while it is queued, all of
// them are at a server that stands still.
func together(t *testing.T, s *Store, srv *redistest.Server, b *weir.Batch) {
	t.Helper()
	srv.Pause()
	done := make(chan struct{}, flightsPerShard+1)
	for range flightsPerShard {
		s.Submit(&weir.Batch{Entries: []weir.Entry{one("{other}", still(1000))}}, func(*weir.Batch) { done <- struct{}{} })
		time.Sleep(5 * time.Millisecond) // it leaves, and does not wait for what follows
	}
	s.Submit(b, func(*weir.Batch) { done <- struct{}{} })
	srv.Resume()
	for range flightsPerShard + 1 {
		<-done
	}
}
