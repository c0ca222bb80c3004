package memstore

import (
	"math/bits"
	"runtime"

	"github.com/weirlimit/weir"
)

// DefaultMaxKeys is the cap on keys when WithMaxKeys does not say another.
const DefaultMaxKeys = 1_000_000

// Bounds on what a shard holds, on average.
const (
	// A victim is chosen among a shard's keys: fewer give a poor choice.
	leastPerShard = 512
	// The longest a shard is locked is while it grows or is swept, which is
	// proportional to this; see BenchmarkWorstPause.
	usualPerShard = 1 << 12
	// References reach two million pages, and a page may hold one record.
	mostPerShard = 1 << 18
)

type config struct {
	maxKeys    int
	maxReplays int
	shards     int
	clock      func() weir.Micros
	hooks      weir.Hooks
}

// Option changes what New makes.
type Option func(*config)

// WithMaxKeys caps the keys held at once at n; see the package's text for what
// goes first. The default, also for n below 1, is DefaultMaxKeys.
func WithMaxKeys(n int) Option {
	return func(c *config) { c.maxKeys = n }
}

// WithMaxReplays caps the request ids remembered at about n: each shard has an
// equal part. The default, also for n below 1, is the cap on keys. One takes
// some 60 bytes per charge of its entry.
func WithMaxReplays(n int) Option {
	return func(c *config) { c.maxReplays = n }
}

// WithShards sets the number of shards, rounded up to a power of two, and kept
// between what lets a shard hold 512 and 2^18 keys of the cap. The default fits
// the cap and the processors.
func WithShards(n int) Option {
	return func(c *config) { c.shards = n }
}

// WithClock replaces the clock, for tests and simulations. The default is the
// wall clock when the store was made plus the monotonic time since then: it is
// never set back. now must be safe for concurrent use and must not call the
// store.
func WithClock(now func() weir.Micros) Option {
	return func(c *config) { c.clock = now }
}

// WithHooks sets what is told of evictions. Hooks are called with no lock held.
func WithHooks(h weir.Hooks) Option {
	return func(c *config) { c.hooks = h }
}

// settle fills in the defaults.
func (c *config) settle() {
	if c.maxKeys < 1 {
		c.maxKeys = DefaultMaxKeys
	}
	if c.maxReplays < 1 {
		c.maxReplays = c.maxKeys
	}
	if c.shards < 1 {
		c.shards = max(c.maxKeys/usualPerShard, 16*runtime.GOMAXPROCS(0))
	}
	most := max(1, c.maxKeys/leastPerShard)
	least := (c.maxKeys + mostPerShard - 1) / mostPerShard
	c.shards = max(1, floorPowerOfTwo(min(ceilPowerOfTwo(c.shards), most)), ceilPowerOfTwo(least))
}

func ceilPowerOfTwo(n int) int  { return 1 << bits.Len(uint(max(n, 1)-1)) }
func floorPowerOfTwo(n int) int { return 1 << (bits.Len(uint(max(n, 1))) - 1) }
