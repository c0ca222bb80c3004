package redisstore

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// BenchmarkFlight is the same without Redis, sockets and other goroutines: what
// is computed for a decision from Submit to its callback, 32 to a flight.
func BenchmarkFlight(b *testing.B) {
	for _, w := range []struct {
		name          string
		keys, charges int
		limit         string
	}{
		{"one", 32, 1, "10000000/h"},
		{"one-gcra", 32, 1, "10000000/s burst 10000000"},
		{"three", 32, 3, "10000000/h"},
		{"hot", 1, 1, "10000000/h"},
	} {
		b.Run(w.name, func(b *testing.B) {
			l, err := weir.ParseLimit(w.limit)
			if err != nil {
				b.Fatal(err)
			}
			benchmarkFlight(b, w.keys, w.charges, weir.MustMeter(l))
		})
	}
}

func benchmarkFlight(b *testing.B, keys, charges int, m *weir.Meter) {
	const size = 32
	s, sh := grounded(b)
	batches := make([]weir.Batch, size)
	for i := range batches {
		batches[i].Entries = []weir.Entry{{Charges: make([]weir.Charge, charges)}}
		for j := range batches[i].Entries[0].Charges {
			batches[i].Entries[0].Charges[j] = weir.Charge{
				Key: fmt.Sprintf("{tenant-%08d}3:api5:login%ds", i%keys, j), Meter: m, Cost: 1,
			}
		}
		batches[i].Deadline = time.Now().Add(time.Hour)
	}
	f, answers := sh.flights[0], 0
	done := func(*weir.Batch) { answers++ }
	turn := func(found []byte) {
		for i := range batches {
			s.Submit(&batches[i], done)
		}
		sh.take(f)
		f.build(f.items, sh.keyCap.get())
		f.encode()
		f.command(&s.scripts.declared, false)
		if err := f.found.readFrom(bytes.NewReader(found)); err != nil {
			b.Fatal(err)
		}
		if err := f.read(); err != nil {
			b.Fatal(err)
		}
		sh.land(f, time.Now(), time.Microsecond)
		sh.mu.aloft--
	}
	now := weir.Micros(1_700_000_000_000_000)
	var st algo.State
	algo.Decide(m, &st, now-100, 1000, algo.Owner{})
	stored := algo.AppendState(nil, m, &st)
	found := append56([]byte{byte(len(stored))}, int64(now))
	found = append(found, 0, 0, 0, size, 0, 0, 0, 0)
	for range keys * charges {
		found = append(found, stored...)
	}
	found = []byte(bulk(found))
	turn(found)
	answers = 0
	b.ReportAllocs()
	self := selfCPU()
	b.ResetTimer()
	for range b.N {
		turn(found)
	}
	b.StopTimer()
	b.ReportMetric(float64(selfCPU()-self)/float64(b.N*size), "cpu-ns/decision")
	if answers != b.N*size || !batches[0].Entries[0].Admitted {
		b.Fatalf("%d answers, the first is %+v", answers, batches[0].Entries[0])
	}
	b.ReportMetric(0, "ns/op")
}

// grounded is a store with a shard that no goroutine empties.
func grounded(b *testing.B) (*Store, *shard) {
	o := Options{Addrs: []string{"nowhere:1"}, Deadline: time.Hour}
	if err := o.setDefaults(); err != nil {
		b.Fatal(err)
	}
	s := &Store{opts: o, start: time.Now(), scripts: newScripts(false)}
	s.watch = newWatchdog(s)
	sh := &shard{store: s, keyCap: newKeyCap(o.MaxKeys, o.MaxScript)}
	sh.work = sync.NewCond(&sh.mu.Mutex)
	sh.mu.breaker = o.Breaker.start()
	for i := range sh.flights {
		sh.flights[i] = newFlight(s)
	}
	s.topo.Store(&topology{shards: []*shard{sh}})
	return s, sh
}
