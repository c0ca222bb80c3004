package limiter_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/limiter"
	"github.com/weirlimit/weir/memstore"
	"pgregory.net/rapid"
)

var ctx = context.Background()

func newLimiter(t testing.TB, store weir.Store, texts ...string) *limiter.Limiter {
	t.Helper()
	var limits []weir.Limit
	for _, text := range texts {
		l, err := weir.ParseLimit(text)
		if err != nil {
			t.Fatal(err)
		}
		limits = append(limits, l)
	}
	lim, err := limiter.New(store, "login", limits...)
	if err != nil {
		t.Fatal(err)
	}
	return lim
}

// keys are as many and as long as in the field.
func keys(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("tenant-%025d", i)
	}
	return list
}

func TestAllowDoesNotAllocate(t *testing.T) {
	if raced {
		t.Skip("sync.Pool allocates under the race detector; TestRequestDoesNotAllocate runs under both")
	}
	for _, limits := range [][]string{
		{"10/s burst 5"}, {"1000/m"}, {"10/m"}, {"10/s burst 5", "1000/m", "5/d fixed_window"},
	} {
		store := memstore.New()
		lim := newLimiter(t, store, limits...)
		list := keys(100)
		var d weir.Decision
		next := 0
		round := func() {
			k := list[next%len(list)]
			next++
			if _, err := lim.Allow(ctx, k); err != nil {
				t.Fatal(err)
			}
			if err := lim.Check(ctx, limiter.Ask{Key: k, Cost: 2}, &d); err != nil {
				t.Fatal(err)
			}
			if _, err := lim.Peek(ctx, k); err != nil {
				t.Fatal(err)
			}
		}
		for range 10 * len(list) {
			round()
		}
		if n := testing.AllocsPerRun(1000, round); n != 0 {
			t.Errorf("%v: %v allocations for a round of Allow, Check and Peek", limits, n)
		}
	}
}

// hidden is a store without its short way.
type hidden struct{ weir.Store }

// TestShortWayAnswersAlike runs one history the short way and the long way.
func TestShortWayAnswersAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := weir.Limit{
			Algorithm: weir.Algorithm(rapid.IntRange(1, 6).Draw(t, "algorithm")),
			Count:     rapid.Int64Range(1, 40).Draw(t, "count"),
			Window:    weir.Micros(rapid.Int64Range(1, 5).Draw(t, "seconds")) * weir.Second,
		}
		now := 1_700_000_000 * weir.Second
		clock := func() weir.Micros { return now }
		short, errShort := limiter.New(memstore.New(memstore.WithClock(clock)), "x", limit)
		long, errLong := limiter.New(hidden{memstore.New(memstore.WithClock(clock))}, "x", limit)
		if errShort != nil || errLong != nil {
			t.Fatal(errShort, errLong)
		}
		var a, b weir.Decision
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now += weir.Micros(rapid.Int64Range(0, 700_000).Draw(t, "us"))
			ask := limiter.Ask{Key: rapid.SampledFrom([]string{"k", "}"}).Draw(t, "key"), Cost: rapid.Int64Range(0, 50).Draw(t, "cost")}
			if errA, errB := short.Check(ctx, ask, &a), long.Check(ctx, ask, &b); errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if fmt.Sprint(a) != fmt.Sprint(b) {
				t.Fatalf("%v, cost %d: the short way answers\n%+v, the long way\n%+v", limit, ask.Cost, a, b)
			}
		}
	})
}

// TestManyGoroutines: what they share is the limit, and nothing else is mixed up.
func TestManyGoroutines(t *testing.T) {
	const goroutines, each, limit = 8, 200, 500
	store := memstore.New(memstore.WithClock(func() weir.Micros { return 1_700_000_000 * weir.Second }))
	lim := newLimiter(t, store, "500/h", "500/d")
	var shared atomic.Int64
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			own := strconv.Itoa(g)
			for i := range each {
				d, err := lim.Allow(ctx, own)
				if err != nil || !d.Allowed() || d.Remaining != int64(limit-1-i) {
					t.Errorf("own key, request %d: %+v, %v", i, d, err)
					return
				}
				if d, err := lim.Allow(ctx, "shared"); err != nil {
					t.Error(err)
				} else if d.Allowed() {
					shared.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if got := shared.Load(); got != limit {
		t.Errorf("%d pass, want %d", got, limit)
	}
}

func BenchmarkAllow(b *testing.B) {
	for _, bc := range []struct {
		name   string
		limits []string
	}{
		{"one", []string{"1000000/s burst 1000000"}},
		{"three", []string{"1000000/s burst 1000000", "1000000/m fixed_window", "1000000/h burst 10"}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			lim := newLimiter(b, memstore.New(), bc.limits...)
			list := keys(10_000)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := lim.Allow(ctx, list[i%len(list)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
