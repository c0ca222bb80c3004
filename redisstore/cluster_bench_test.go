package redisstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// BenchmarkCluster measures the CPU of three nodes and of the client for 10k
// tenants, each in a slot of its own.
func BenchmarkCluster(b *testing.B) {
	c := redistest.StartCluster(b, 3, 0)
	s, err := New(context.Background(), Options{Addrs: c.Addrs(), Mode: Cluster, Deadline: 5 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	cpu := func() (sum time.Duration) {
		for _, n := range c.Primaries() {
			sum += n.CPU()
		}
		return sum
	}
	m := weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 10_000_000, Window: weir.Second, Burst: 10_000_000})
	names := make([]string, 10_000)
	for i := range names {
		names[i] = fmt.Sprintf("{tenant-%08d}3:api5:login1s", i)
	}
	redis, self := cpu(), selfCPU()
	b.SetParallelism(128)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		batch := &weir.Batch{Entries: []weir.Entry{{Charges: []weir.Charge{{Meter: m, Cost: 1}}}}}
		for pb.Next() {
			batch.Entries[0].Charges[0].Key = names[rand.IntN(len(names))]
			s.Decide(context.Background(), batch)
			if e := &batch.Entries[0]; e.Err != nil || !e.Admitted {
				b.Errorf("admitted %v: %v", e.Admitted, e.Err)
				return
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(cpu()-redis)/float64(b.N), "redis-ns/op")
	b.ReportMetric(float64(selfCPU()-self)/float64(b.N), "self-ns/op")
}
