package obs

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/weirlimit/weir"
)

// maxShards bounds the shards that are told apart. A cluster has fewer nodes;
// a process that sees its nodes' addresses change may meet more.
const maxShards = 128

// storeCalls counts round trips.
type storeCalls struct {
	entries, groups, keys *histogram

	shards atomic.Pointer[map[string]*shard] // copied when one is added
	rest   *shard
	mu     sync.Mutex // for adding
}

// shard counts the round trips to one node.
type shard struct {
	roundTrip, script *histogram
	errors            [codes]atomic.Uint64
	breaker           breaker
}

func newShard() *shard {
	return &shard{roundTrip: newHistogram(durations, 1), script: newHistogram(durations, 1)}
}

func newStoreCalls() *storeCalls {
	s := &storeCalls{
		entries: newHistogram(sizes, 1),
		groups:  newHistogram(sizes, 1),
		keys:    newHistogram(sizes, 1),
		rest:    newShard(),
	}
	s.shards.Store(&map[string]*shard{})
	return s
}

// count is Hooks.StoreCall. It allocates and locks only for a shard that was
// not seen before.
func (s *storeCalls) count(c weir.StoreCall) {
	s.entries.observe(int64(c.Entries), 0)
	s.groups.observe(int64(c.Groups), 0)
	s.keys.observe(int64(c.Keys), 0)
	sh := s.shard(c.Shard)
	sh.roundTrip.observe(int64(c.Took), 0)
	if c.Script > 0 {
		sh.script.observe(int64(c.Script), 0)
	}
	if c.Err != nil {
		sh.errors[codeSlot(weir.CodeOf(c.Err))].Add(1)
	}
}

func (s *storeCalls) shard(name string) *shard {
	if known := (*s.shards.Load())[name]; known != nil {
		return known
	}
	if len(*s.shards.Load()) >= maxShards {
		return s.rest
	}
	return s.addShard(name)
}

func (s *storeCalls) addShard(name string) *shard {
	// Label values are text, and other is taken.
	if name = text(name); name == other {
		return s.rest
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := *s.shards.Load()
	if known := old[name]; known != nil {
		return known
	}
	if len(old) >= maxShards {
		return s.rest
	}
	next := maps.Clone(old)
	sh := newShard()
	next[strings.Clone(name)] = sh
	s.shards.Store(&next)
	return sh
}
