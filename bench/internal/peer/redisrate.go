package peer

import (
	"context"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
)

var redisRate = Redis{
	Name: "redis_rate",
	New: func(_ context.Context, addr string, l Limit) (Limiter, error) {
		client := goRedis(addr)
		return &redisRateLimiter{
			client:  client,
			limiter: redis_rate.NewLimiter(client),
			limit:   redis_rate.Limit{Rate: int(l.Count), Burst: int(l.Count), Period: l.Period},
		}, nil
	},
}

type redisRateLimiter struct {
	client  *redis.Client
	limiter *redis_rate.Limiter
	limit   redis_rate.Limit
}

func (r *redisRateLimiter) Allow(ctx context.Context, key string) (bool, error) {
	res, err := r.limiter.Allow(ctx, key, r.limit)
	if err != nil {
		return false, err
	}
	return res.Allowed > 0, nil
}

func (r *redisRateLimiter) Close() error { return r.client.Close() }
