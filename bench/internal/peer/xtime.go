package peer

import (
	"context"
	"sync"

	"golang.org/x/time/rate"
)

// x/time/rate limits one thing; a map of limiters is what its users write for
// many. They are never removed, which favours it.
var xtimeMemory = Memory{
	Name: "x/time/rate in a sync.Map",
	New: func(l Limit, _ int) (Limiter, error) {
		return &xtime{every: rate.Limit(float64(l.Count) / l.Period.Seconds()), burst: int(l.Count)}, nil
	},
}

type xtime struct {
	every rate.Limit
	burst int
	m     sync.Map // string to *rate.Limiter
}

func (x *xtime) Allow(_ context.Context, key string) (bool, error) {
	v, ok := x.m.Load(key)
	if !ok {
		v, _ = x.m.LoadOrStore(key, rate.NewLimiter(x.every, x.burst))
	}
	return v.(*rate.Limiter).Allow(), nil
}

func (x *xtime) Close() error { return nil }
