package peer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/embedded"
	"github.com/weirlimit/weir/redisstore"
)

// The names of Weir with and without its local tier.
const (
	StoreAlone  = "limiter, no local tier"
	EngineAlone = "engine, no local tier"
	DenyCache   = "engine, deny cache"
	Leases      = "engine, deny cache and leases"
)

// OneHotKey returns Weir on Redis with ever more of its local tier. The first is
// the one that OnRedis compares with others.
func OneHotKey() []Redis {
	store := weirRedis
	store.Name = StoreAlone
	return []Redis{
		store,
		newWeirLocal(EngineAlone, embedded.WithDenyCache(0)),
		newWeirLocal(DenyCache),
		newWeirLocal(Leases, embedded.WithLeases(embedded.Leases{})),
	}
}

// Flooded returns those that differ when all is denied.
func Flooded() []Redis {
	return []Redis{newWeirLocal(EngineAlone, embedded.WithDenyCache(0)), newWeirLocal(DenyCache)}
}

func newWeirLocal(name string, opts ...embedded.Option) Redis {
	return Redis{Name: name, Ours: true, New: func(ctx context.Context, addr string, l Limit) (Limiter, error) {
		store, err := redisstore.New(ctx, redisstore.Options{Addrs: []string{addr}, Deadline: patience})
		if err != nil {
			return nil, err
		}
		limits, err := embedded.Parse(
			fmt.Sprintf("policies:\n  - {id: bench, by: [tenant], limits: [%s], lease: auto, on_failure: closed}\n", weirLimit(l)),
			append([]embedded.Option{embedded.WithStore(store), embedded.WithDeadline(patience)}, opts...)...)
		if err != nil {
			_ = store.Close() // the error above is the one to tell
			return nil, err
		}
		return newWeirEngine(limits, store), nil
	}}
}

// patience is a deadline that a machine which two processes fill can keep.
const patience = time.Second

// weirEngine asks as a door of the server does: with requests that are used
// again.
type weirEngine struct {
	limits *embedded.Limits
	store  weir.Store
	asks   sync.Pool // of *weirAsk
}

type weirAsk struct {
	request  weir.Request
	decision weir.Decision
}

func newWeirEngine(limits *embedded.Limits, store weir.Store) *weirEngine {
	return &weirEngine{limits: limits, store: store, asks: sync.Pool{New: func() any {
		return &weirAsk{request: weir.Request{Domain: "default", Cost: 1, Descriptors: []weir.Descriptor{
			{Pairs: []weir.Pair{{Name: "tenant"}}},
		}}}
	}}}
}

// Allow fails where the store was not asked and should have been: an answer by
// on_failure is not what is measured.
func (w *weirEngine) Allow(ctx context.Context, key string) (bool, error) {
	a := w.asks.Get().(*weirAsk)
	defer w.asks.Put(a)
	a.request.Descriptors[0].Pairs[0].Value = key
	if err := w.limits.Check(ctx, &a.request, &a.decision); err != nil {
		return false, err
	}
	if a.decision.Reason == weir.ReasonDegraded {
		return false, fmt.Errorf("answered without the store: %v", a.decision.Source)
	}
	return a.decision.Allowed(), nil
}

func (w *weirEngine) Close() error {
	if err := w.limits.Close(); err != nil {
		return err
	}
	return w.store.Close()
}
