package redisstore

import (
	"time"

	"github.com/weirlimit/weir"
)

var _ weir.Gatherer = (*Store)(nil)

// Who gathers may lose its processor on the way, for milliseconds and to others
// that it knows nothing of. No more entries wait for it than so many, and none
// when another comes so much later.
const (
	mostGathered  = 64
	longestGather = 200 * time.Microsecond
)

// Gather implements weir.Gatherer. Without it the first request of a read would
// leave alone, on another processor that is woken for it, and the others could not
// but wait for it to come back.
func (s *Store) Gather() { s.gathering.Add(1) }

// Gathered implements weir.Gatherer.
func (s *Store) Gathered() {
	if s.gathering.Add(-1) > 0 {
		return // who ends last wakes
	}
	for _, sh := range s.topo.Load().shards {
		var next *flight
		sh.mu.Lock()
		if len(sh.mu.queue) > 0 {
			next = sh.wakeLocked()
		}
		sh.mu.Unlock()
		sh.depart(next)
	}
}

// gatheringLocked tells whether what waits should go on waiting. Whoever queues an
// entry asks this with the lock that Gathered takes after it has counted down: one
// of them sees the other.
func (s *shard) gatheringLocked() bool {
	q := s.mu.queue
	return s.store.gathering.Load() > 0 && len(q) < mostGathered &&
		(len(q) == 0 || q[len(q)-1].began-q[0].began < longestGather)
}
