package redisstore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// BenchmarkScript measures Redis's own CPU per decision, by batch size, which
// is what a shard's ceiling is made of.
func BenchmarkScript(b *testing.B) {
	limits := []string{"1000000/s burst 1000000 token_bucket", "10000000/s burst 10000000", "9999991/s burst 9999991", "10000000/s", "10000000/s fixed_window"}
	for _, text := range limits {
		l, err := weir.ParseLimit(text)
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{1, 8, 32, 128} {
			b.Run(fmt.Sprintf("%s/keys=%d", l.Algorithm, n), func(b *testing.B) { benchmarkScript(b, weir.MustMeter(l), n) })
		}
	}
}

// BenchmarkScriptTwins is the same for counters that change their name.
func BenchmarkScriptTwins(b *testing.B) {
	m := weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 10_000_000, Window: weir.Second, Burst: 10_000_000})
	for _, how := range []weir.Twinning{weir.TwinNext, weir.TwinLast, weir.TwinOld} {
		b.Run(how.String(), func(b *testing.B) {
			benchmarkCharges(b, 32, func(i int) weir.Charge { return renamed(fmt.Sprintf("{tenant-%08d}3:api", i), how, m) })
		})
	}
}

// BenchmarkScriptCharges is for requests of three charges: of three keys of their
// own, and with one that all requests share.
func BenchmarkScriptCharges(b *testing.B) {
	m := weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 10_000_000, Window: weir.Hour, Burst: 10_000_000})
	charge := func(kind string, i int) weir.Charge {
		return weir.Charge{Key: fmt.Sprintf("{tenant-%08d}3:api5:%s", i, kind), Meter: m, Cost: 1}
	}
	b.Run("own", func(b *testing.B) {
		benchmarkEntries(b, 32, func(i int, e *weir.Entry) {
			e.Charges = append(e.Charges[:0], charge("a", i), charge("b", i), charge("c", i))
		})
	})
	b.Run("shared", func(b *testing.B) {
		benchmarkEntries(b, 32, func(i int, e *weir.Entry) {
			e.Charges = append(e.Charges[:0], charge("a", i), charge("b", i), charge("all", 0))
		})
	})
}

func benchmarkScript(b *testing.B, m *weir.Meter, n int) {
	benchmarkCharges(b, n, func(i int) weir.Charge {
		return weir.Charge{Key: fmt.Sprintf("{tenant-%08d}3:api5:login1s", i), Meter: m, Cost: 1}
	})
}

func benchmarkCharges(b *testing.B, n int, charge func(i int) weir.Charge) {
	benchmarkEntries(b, n, func(i int, e *weir.Entry) { e.Charges = append(e.Charges[:0], charge(i)) })
}

// benchmarkEntries decides batches of n entries of 10k kinds.
func benchmarkEntries(b *testing.B, n int, fill func(i int, e *weir.Entry)) {
	srv := redistest.Start(b)
	s, err := New(context.Background(), Options{Addrs: []string{srv.Addr()}, Deadline: 5 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	batch := &weir.Batch{Entries: make([]weir.Entry, n)}
	next := 0
	redis := srv.CPU()
	decisions := 0
	for b.Loop() {
		for i := range batch.Entries {
			fill(next%10_000, &batch.Entries[i])
			next++
		}
		s.Decide(context.Background(), batch)
		decisions += n
	}
	if err := batch.Entries[0].Err; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(srv.CPU()-redis)/float64(decisions), "redis-ns/decision")
	b.ReportMetric(0, "ns/op")
}
