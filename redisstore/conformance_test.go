package redisstore_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/redisstore"
	"github.com/weirlimit/weir/storetest"
)

// The suite runs twice on each arrangement of servers: on Redis's own clock,
// and with the script's instant set by the test, which is how Lua runs the
// same vectors and random histories as Go.

func TestConformanceSingle(t *testing.T) {
	srv := redistest.Start(t)
	conform(t, redisstore.Options{Addrs: []string{srv.Addr()}}, []*redistest.Server{srv})
}

func TestConformanceSentinel(t *testing.T) {
	s := redistest.StartSentinel(t, 3, 1)
	o := redisstore.Options{Addrs: s.Addrs(), Mode: redisstore.Sentinel, MasterName: s.MasterName()}
	conform(t, o, []*redistest.Server{s.Primary()})
}

func TestConformanceCluster(t *testing.T) {
	c := redistest.StartCluster(t, 3, 3)
	conform(t, redisstore.Options{Addrs: c.Addrs()[:1], Mode: redisstore.Cluster}, c.Primaries())
}

func conform(t *testing.T, o redisstore.Options, primaries []*redistest.Server) {
	o.Deadline = 10 * time.Second
	t.Run("own clock", func(t *testing.T) {
		storetest.Run(t, func(t testing.TB) storetest.Harness {
			return storetest.Harness{Store: open(t, o, primaries), Holds: holds(primaries)}
		})
	})
	t.Run("set clock", func(t *testing.T) {
		storetest.Run(t, func(t testing.TB) storetest.Harness {
			var at atomic.Int64
			clock := func() weir.Micros {
				if now := at.Load(); now != 0 {
					return weir.Micros(now)
				}
				return weir.MicrosAt(time.Now())
			}
			return storetest.Harness{
				Store:    open(t, redisstore.WithClock(o, clock), primaries),
				SetClock: func(now weir.Micros) { at.Store(int64(now)) },
				Holds:    holds(primaries),
			}
		})
	})
}

// open empties the servers and connects to them. That the script and its twin
// in Go disagree, or that anything is lost, fails the test.
func open(t testing.TB, o redisstore.Options, primaries []*redistest.Server) *redisstore.Store {
	t.Helper()
	for _, p := range primaries {
		if _, err := p.Do("FLUSHALL"); err != nil {
			t.Fatalf("empty the server: %v", err)
		}
	}
	var opened atomic.Pointer[redisstore.Store]
	o.Hooks.Lost = func(kind weir.Loss, n int) {
		if s := opened.Load(); kind == weir.LossUncertain && s != nil && redisstore.IsClosed(s) {
			return // what was in the air when it was closed may have run: that is no loss of the store's
		}
		t.Errorf("lost: %v, %d times", kind, n)
	}
	s, err := redisstore.New(context.Background(), o)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	opened.Store(s)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func holds(primaries []*redistest.Server) func(string) (time.Duration, bool) {
	return func(key string) (time.Duration, bool) {
		for _, p := range primaries {
			ms, err := p.Do("PTTL", key)
			if n, ok := ms.(int64); err == nil && ok && n != -2 {
				return time.Duration(n) * time.Millisecond, true
			}
		}
		return 0, false
	}
}
