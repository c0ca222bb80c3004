package redisstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// BenchmarkDecide measures decisions through a real Redis: time, and the CPU
// of both sides, which is steadier.
func BenchmarkDecide(b *testing.B) {
	for _, w := range []struct {
		name          string
		keys, callers int
	}{
		{"keys=10k/callers=128", 10_000, 128},
		{"keys=10k/callers=1", 10_000, 1},
		{"keys=1/callers=128", 1, 128},
	} {
		b.Run(w.name, func(b *testing.B) { benchmarkDecide(b, w.keys, w.callers) })
	}
}

func benchmarkDecide(b *testing.B, keys, callers int) {
	srv := redistest.Start(b)
	var calls, script atomic.Int64
	s, err := New(context.Background(), Options{
		Addrs: []string{srv.Addr()}, Deadline: 5 * time.Second,
		Hooks: weir.Hooks{StoreCall: func(c weir.StoreCall) { calls.Add(1); script.Add(int64(c.Script)) }},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	m := weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 10_000_000, Window: weir.Second, Burst: 10_000_000})
	names := make([]string, keys)
	for i := range names {
		names[i] = fmt.Sprintf("{tenant-%08d}3:api5:login1s", i)
	}
	redis, self := srv.CPU(), selfCPU()
	b.ReportAllocs()
	b.SetParallelism(max(1, callers/2))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		batch := &weir.Batch{Entries: []weir.Entry{{Charges: []weir.Charge{{Meter: m, Cost: 1}}}}}
		for pb.Next() {
			batch.Entries[0].Charges[0].Key = names[rand.IntN(keys)]
			s.Decide(context.Background(), batch)
			if e := &batch.Entries[0]; e.Err != nil || !e.Admitted {
				b.Errorf("admitted %v: %v", e.Admitted, e.Err)
				return
			}
		}
	})
	b.StopTimer()
	n := float64(b.N)
	b.ReportMetric(float64(srv.CPU()-redis)/n, "redis-ns/op")
	b.ReportMetric(float64(selfCPU()-self)/n, "self-ns/op")
	b.ReportMetric(n/float64(max(1, calls.Load())), "entries/call")
	b.ReportMetric(float64(script.Load())/1000/float64(max(1, calls.Load())), "script-us")
}

func selfCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
