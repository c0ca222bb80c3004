package peer

import "github.com/redis/go-redis/v9"

// goRedis is the client under every library that brings none of its own. It
// may open a connection for each of 128 callers: with fewer, throttled loses
// more of its races on a hot key while it waits for one between reading and
// swapping, and the others do no better.
func goRedis(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, PoolSize: 128})
}
