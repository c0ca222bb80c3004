package redisstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// BenchmarkSubmit measures what this process spends on a decision when it is
// asked as a server asks: some connections submit what they have read in a row,
// and read on when it was answered.
func BenchmarkSubmit(b *testing.B) {
	for _, w := range []struct {
		name          string
		keys, charges int
	}{
		{"one", 10_000, 1},
		{"three", 10_000, 3},
		{"hot", 1, 1},
	} {
		for _, lanes := range []int{1, 4} {
			b.Run(fmt.Sprintf("%s/lanes=%d", w.name, lanes), func(b *testing.B) { benchmarkSubmit(b, w.keys, w.charges, lanes) })
		}
	}
}

// submitted is how many requests are under way.
const submitted = 64

func benchmarkSubmit(b *testing.B, keys, charges, lanes int) {
	srv := redistest.Start(b)
	var calls atomic.Int64
	s, err := New(context.Background(), Options{
		Addrs: []string{srv.Addr()}, Deadline: 5 * time.Second,
		Hooks: weir.Hooks{StoreCall: func(weir.StoreCall) { calls.Add(1) }},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	m := weir.MustMeter(weir.Limit{Algorithm: weir.SlidingWindow, Count: 10_000_000, Window: weir.Hour})
	names := make([][]string, charges)
	for j := range names {
		names[j] = make([]string, keys)
		for i := range names[j] {
			names[j][i] = fmt.Sprintf("{tenant-%08d}3:api5:login%ds", i, j)
		}
	}
	lane := func(n int) {
		each := submitted / lanes
		batches := make([]weir.Batch, each)
		for i := range batches {
			batches[i].Entries = []weir.Entry{{Charges: make([]weir.Charge, charges)}}
		}
		var left atomic.Int32
		answered := make(chan struct{}, 1)
		done := func(*weir.Batch) {
			if left.Add(-1) == 0 {
				answered <- struct{}{}
			}
		}
		for ; n > 0; n -= each {
			left.Store(int32(each))
			by := time.Now().Add(5 * time.Second)
			for i := range batches {
				at := rand.IntN(keys)
				for j := range batches[i].Entries[0].Charges {
					batches[i].Entries[0].Charges[j] = weir.Charge{Key: names[j][at], Meter: m, Cost: 1}
				}
				batches[i].Deadline = by
				s.Submit(&batches[i], done)
			}
			<-answered
			for i := range batches {
				if e := &batches[i].Entries[0]; e.Err != nil || !e.Admitted {
					b.Errorf("admitted %v: %v", e.Admitted, e.Err)
					return
				}
			}
		}
	}
	run := func(n int) {
		var all sync.WaitGroup
		for range lanes {
			all.Go(func() { lane(n / lanes) })
		}
		all.Wait()
	}
	run(10 * submitted) // connects, and loads the script
	n := (b.N + submitted - 1) / submitted * submitted
	runtime.GC()
	calls.Store(0)
	b.ReportAllocs()
	redis, self, switched := srv.CPU(), selfCPU(), switches()
	b.ResetTimer()
	run(n)
	b.StopTimer()
	b.ReportMetric(float64(switches()-switched)/float64(max(1, calls.Load())), "switches/call")
	b.ReportMetric(float64(selfCPU()-self)/float64(n), "cpu-ns/op")
	b.ReportMetric(float64(srv.CPU()-redis)/float64(n), "redis-ns/op")
	b.ReportMetric(float64(n)/float64(max(1, calls.Load())), "entries/call")
}

// switches is how often threads of this process had to wait.
func switches() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Nvcsw
}
