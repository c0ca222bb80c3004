package redisstore

import "github.com/weirlimit/weir"

var _ weir.Gatherer = (*Store)(nil)

// mostGathered is how many entries do not wait for more: a goroutine that gathers
// may lose its processor on the way.
const mostGathered = 64

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
		sh.mu.Lock()
		if len(sh.mu.queue) > 0 {
			sh.wakeLocked()
		}
		sh.mu.Unlock()
	}
}

// gatheringLocked tells whether what waits should go on waiting. Whoever queues an
// entry asks this with the lock that Gathered takes after it has counted down: one
// of them sees the other.
func (s *shard) gatheringLocked() bool {
	return len(s.mu.queue) < mostGathered && s.store.gathering.Load() > 0
}
