package peer

import (
	"context"
	"time"
)

// Limiter is one library at work: Allow charges one unit to key.
type Limiter interface {
	Allow(ctx context.Context, key string) (bool, error)
	Close() error
}

// Limit is Count units per Period, all of which may come at once. It is a
// burst of Count refilled over Period where a library thinks in buckets, and a
// quota of Count where it thinks in windows.
type Limit struct {
	Count  int64
	Period time.Duration
}

// Memory is a library that keeps its counters in this process.
type Memory struct {
	Name string
	// Ours is set for Weir.
	Ours bool
	// New makes a limiter with room for that many keys.
	New func(l Limit, keys int) (Limiter, error)
}

// Redis is a library that keeps its counters in the Redis at addr.
type Redis struct {
	Name string
	Ours bool
	New  func(ctx context.Context, addr string, l Limit) (Limiter, error)
}

// InMemory returns all libraries that count in memory, Weir first.
func InMemory() []Memory {
	return []Memory{weirMemory, weirLimiterMemory, sethvargoMemory, throttledMemory, ululeMemory, xtimeMemory}
}

// OnRedis returns all libraries that count in Redis, Weir first.
func OnRedis() []Redis {
	return []Redis{weirRedis, redisRate, throttledRedis, ululeRedis}
}

// Modules are the libraries compared with, and the client most of them share.
var Modules = []string{
	"github.com/redis/rueidis",
	"github.com/go-chi/httprate",
	"github.com/didip/tollbooth/v7",
	"github.com/sethvargo/go-limiter",
	"github.com/throttled/throttled/v2",
	"github.com/ulule/limiter/v3",
	"golang.org/x/time",
	"github.com/go-redis/redis_rate/v10",
	"github.com/redis/go-redis/v9",
}
