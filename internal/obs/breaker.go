package obs

import (
	"sync/atomic"

	"github.com/weirlimit/weir"
)

// breaker is what is known of the breaker before one shard.
type breaker struct {
	state   atomic.Uint32
	changes [breakerStates]atomic.Uint64
}

const breakerStates = int(weir.BreakerHalfOpen) + 1

// breakerChanged is Hooks.Breaker.
func (s *storeCalls) breakerChanged(shard string, state weir.BreakerState) {
	if int(state) >= breakerStates {
		return
	}
	b := &s.shard(shard).breaker
	b.state.Store(uint32(state))
	b.changes[state].Add(1)
}

func (b *breaker) changed() bool {
	for i := range b.changes {
		if b.changes[i].Load() > 0 {
			return true
		}
	}
	return false
}

// breaker writes a shard's: always, so that an alert has something to look at
// before the first change. Those without a name have no state in common.
func (s sink) breaker(shard string, b *breaker) {
	if shard != other {
		s.gauge(breakerState, float64(b.state.Load()), shard)
	}
	for state := range b.changes {
		s.counter(breakerChanges, b.changes[state].Load(), shard, weir.BreakerState(state).String())
	}
}
