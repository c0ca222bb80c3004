package peer

import (
	"context"
	"fmt"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/limiter"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/redisstore"
)

// Weir's memory store as it is, for who names keys and keeps meters.
var weirMemory = Memory{
	Name: "Weir, memstore",
	Ours: true,
	New: func(l Limit, keys int) (Limiter, error) {
		m, err := weir.NewMeter(weirLimit(l))
		return &weirTaker{newMemstore(keys), m}, err
	},
}

// Weir's limiter, the front door of a Go program.
var weirLimiterMemory = Memory{
	Name: "Weir, limiter on memstore",
	Ours: true,
	New: func(l Limit, keys int) (Limiter, error) {
		store := newMemstore(keys)
		return newWeirLimiter(store, l, func() error { return closeMemstore(store) })
	},
}

var weirRedis = Redis{
	Name: "Weir",
	Ours: true,
	New: func(ctx context.Context, addr string, l Limit) (Limiter, error) {
		store, err := redisstore.New(ctx, redisstore.Options{
			Addrs:    []string{addr},
			Deadline: patience, // as the others have
		})
		if err != nil {
			return nil, err
		}
		return newWeirLimiter(store, l, store.Close)
	},
}

func weirLimit(l Limit) weir.Limit {
	return weir.Limit{Algorithm: weir.GCRA, Count: l.Count, Window: weir.MicrosOf(l.Period), Burst: l.Count}
}

// newMemstore is memstore.New as most call it, unless keys need more room.
func newMemstore(keys int) *memstore.Store {
	return memstore.New(memstore.WithMaxKeys(max(keys, memstore.DefaultMaxKeys)))
}

// closeMemstore fails when keys had to go: the others keep theirs, so that the
// comparison would not be of the same work.
func closeMemstore(s *memstore.Store) error {
	if n := s.Stats().Evicted; n > 0 {
		return fmt.Errorf("memstore evicted %d keys", n)
	}
	return s.Close()
}

type weirTaker struct {
	store *memstore.Store
	meter *weir.Meter
}

func (w *weirTaker) Allow(_ context.Context, key string) (bool, error) {
	o, err := w.store.Take(key, w.meter, 1)
	return o.OK, err
}

func (w *weirTaker) Close() error { return closeMemstore(w.store) }

type weirLimiter struct {
	limiter *limiter.Limiter
	close   func() error
}

func newWeirLimiter(store weir.Store, l Limit, closer func() error) (Limiter, error) {
	lim, err := limiter.New(store, "bench", weirLimit(l))
	return &weirLimiter{lim, closer}, err
}

func (w *weirLimiter) Allow(ctx context.Context, key string) (bool, error) {
	d, err := w.limiter.Allow(ctx, key)
	return d.Allowed(), err
}

func (w *weirLimiter) Close() error { return w.close() }
