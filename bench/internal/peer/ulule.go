package peer

import (
	"context"
	"net/http"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/middleware/stdlib"
	"github.com/ulule/limiter/v3/drivers/store/memory"
	"github.com/ulule/limiter/v3/drivers/store/redis"
)

var ululeMemory = Memory{
	Name: "ulule/limiter",
	New: func(l Limit, _ int) (Limiter, error) {
		return newUlule(memory.NewStore(), l, func() error { return nil }), nil
	},
}

var ululeRedis = Redis{
	Name: "ulule/limiter",
	New: func(_ context.Context, addr string, l Limit) (Limiter, error) {
		client := goRedis(addr)
		store, err := redis.NewStore(client)
		if err != nil {
			return nil, err
		}
		return newUlule(store, l, client.Close), nil
	},
}

type ulule struct {
	limiter *limiter.Limiter
	close   func() error
}

func newUlule(store limiter.Store, l Limit, closer func() error) *ulule {
	return &ulule{limiter.New(store, limiter.Rate{Limit: l.Count, Period: l.Period}), closer}
}

func (u *ulule) Allow(ctx context.Context, key string) (bool, error) {
	c, err := u.limiter.Get(ctx, key)
	return !c.Reached, err
}

func (u *ulule) Close() error { return u.close() }

var ululeMiddleware = Middleware{
	Name: "ulule/limiter",
	New: func(l Limit, _ int, next http.Handler) (Wrapped, error) {
		lim := limiter.New(memory.NewStore(), limiter.Rate{Limit: l.Count, Period: l.Period})
		return wrapped(stdlib.NewMiddleware(lim).Handler(next)), nil
	},
}
