package peer

import (
	"context"

	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/goredisstore.v9"
	"github.com/throttled/throttled/v2/store/memstore"
)

// throttled's memory store without a cap on its keys is its faster form: the
// capped one keeps a list of the least recently used.
var throttledMemory = Memory{
	Name: "throttled",
	New: func(l Limit, _ int) (Limiter, error) {
		store, err := memstore.NewCtx(0)
		if err != nil {
			return nil, err
		}
		return newThrottled(store, l, func() error { return nil })
	},
}

var throttledRedis = Redis{
	Name: "throttled",
	New: func(_ context.Context, addr string, l Limit) (Limiter, error) {
		client := goRedis(addr)
		store, err := goredisstore.NewCtx(client, "throttled:")
		if err != nil {
			return nil, err
		}
		return newThrottled(store, l, client.Close)
	},
}

type throttledLimiter struct {
	gcra  *throttled.GCRARateLimiterCtx
	close func() error
}

func newThrottled(store throttled.GCRAStoreCtx, l Limit, closer func() error) (Limiter, error) {
	gcra, err := throttled.NewGCRARateLimiterCtx(store, throttled.RateQuota{
		MaxRate:  throttled.PerDuration(int(l.Count), l.Period),
		MaxBurst: int(l.Count) - 1, // on top of the one that always passes
	})
	return &throttledLimiter{gcra, closer}, err
}

func (t *throttledLimiter) Allow(ctx context.Context, key string) (bool, error) {
	limited, _, err := t.gcra.RateLimitCtx(ctx, key, 1)
	return !limited, err
}

func (t *throttledLimiter) Close() error { return t.close() }
