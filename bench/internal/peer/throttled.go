package peer

import (
	"context"
	"net/http"

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
	gcra, err := newGCRA(store, l)
	return &throttledLimiter{gcra, closer}, err
}

func newGCRA(store throttled.GCRAStoreCtx, l Limit) (*throttled.GCRARateLimiterCtx, error) {
	return throttled.NewGCRARateLimiterCtx(store, throttled.RateQuota{
		MaxRate:  throttled.PerDuration(int(l.Count), l.Period),
		MaxBurst: int(l.Count) - 1, // on top of the one that always passes
	})
}

func (t *throttledLimiter) Allow(ctx context.Context, key string) (bool, error) {
	limited, _, err := t.gcra.RateLimitCtx(ctx, key, 1)
	return !limited, err
}

func (t *throttledLimiter) Close() error { return t.close() }

var throttledMiddleware = Middleware{
	Name: "throttled",
	New: func(l Limit, _ int, next http.Handler) (Wrapped, error) {
		store, err := memstore.NewCtx(0)
		if err != nil {
			return Wrapped{}, err
		}
		gcra, err := newGCRA(store, l)
		if err != nil {
			return Wrapped{}, err
		}
		h := throttled.HTTPRateLimiterCtx{RateLimiter: gcra, VaryBy: &throttled.VaryBy{RemoteAddr: true}}
		return wrapped(h.RateLimit(next)), nil
	},
}
