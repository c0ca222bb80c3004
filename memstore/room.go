package memstore

import (
	"math/rand/v2"

	"github.com/weirlimit/weir"
)

// Bounds on making room outside of the shard that needs it. The attempts run
// out only when others take what was freed again and again.
const (
	sweepShards = 4
	attempts    = 100
)

// makeRoom frees a place for a caller that found none in its own shards, and
// holds no lock. On the first attempt it only sweeps; what the caller does then
// may evict. Later ones evict here: the caller's shards have no victim.
func (s *Store) makeRoom(now weir.Micros, attempt int) {
	t := s.tick(now)
	if s.sweepDue(t) || attempt == 0 {
		return
	}
	first := rand.IntN(len(s.shards)) // so as not to empty the first ones
	for i := range s.shards {
		if s.shards[(first+i)%len(s.shards)].evictOne(now) {
			s.evicted(1)
			return
		}
	}
}

// sweepDue sweeps up to sweepShards shards that may have expired states, until
// one had.
func (s *Store) sweepDue(t tick) bool {
	if uint32(t) < s.soonest.Load() {
		return false
	}
	swept := 0
	for i := range s.shards {
		sh := &s.shards[i]
		if !sh.isDue(t) {
			continue
		}
		if sh.lockAndSweep(t) > 0 {
			return true
		}
		if swept++; swept == sweepShards {
			return false
		}
	}
	// None is due now: find out when the next is. A shard that lowers its own
	// instant meanwhile lowers soonest after it, so that either is seen.
	s.soonest.Store(uint32(never))
	for i := range s.dues {
		s.lowerSoonest(s.dues[i].Load())
	}
	return false
}

func (s *shard) lockAndSweep(t tick) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sweep(t, everySegment, nil)
}

// evictOne locks, and frees the place of one live state.
func (s *shard) evictOne(now weir.Micros) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.evict(rand.IntN(tables), rand.Uint64(), now, nil) {
		return false
	}
	s.shared.keys.Add(-1)
	return true
}

// evicted tells the hook; no lock is held.
func (s *Store) evicted(n int) {
	if n > 0 && s.hooks.Evicted != nil {
		s.hooks.Evicted(n)
	}
}

func errFull() error {
	return &weir.Error{
		Code:    weir.CodeOverload,
		Message: "no room for the entry's new keys",
		Hint:    "raise the cap on keys",
	}
}
