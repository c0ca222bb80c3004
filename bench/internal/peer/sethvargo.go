package peer

import (
	"context"

	"github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-limiter/memorystore"
)

// The map is given its size, which spares sethvargo/go-limiter the growing.
var sethvargoMemory = Memory{
	Name: "sethvargo/go-limiter",
	New: func(l Limit, keys int) (Limiter, error) {
		s, err := memorystore.New(&memorystore.Config{
			Tokens:       uint64(l.Count),
			Interval:     l.Period,
			InitialAlloc: keys,
		})
		return &sethvargo{s}, err
	},
}

type sethvargo struct{ store limiter.Store }

func (s *sethvargo) Allow(ctx context.Context, key string) (bool, error) {
	_, _, _, ok, err := s.store.Take(ctx, key)
	return ok, err
}

func (s *sethvargo) Close() error { return s.store.Close(context.Background()) }
