package memstore_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

// benchKeys returns n keys of a real one's form, in random order. They lie in
// memory in the order of their use, as that of a request just parsed does.
func benchKeys(n int) []string {
	keys := make([]string, n)
	for i, j := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		keys[i] = fmt.Sprintf("tenant:%010d:route:%04d", j, j%7919)
	}
	return keys
}

func filled(b *testing.B, keys []string, m *weir.Meter) *memstore.Store {
	s := memstore.New()
	for _, k := range keys {
		take(b, s, k, m, 1)
	}
	return s
}

// Run with -cpu 1,2.
func BenchmarkTake(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		keys := benchKeys(n)
		for _, c := range []struct{ name, limit string }{
			{"allowed", "1000000/d gcra"},
			{"denied", "1/d gcra"},
			{"fixed", "1000000/d fixed_window"},
			{"sliding", "1000000/d"},
		} {
			m := meter(b, c.limit)
			b.Run(fmt.Sprintf("keys=%d/%s", n, c.name), func(b *testing.B) {
				s := filled(b, keys, m)
				b.ReportAllocs()
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for i := rand.IntN(n); pb.Next(); i++ {
						if i == n {
							i = 0
						}
						if _, err := s.Take(keys[i], m, 1); err != nil {
							b.Error(err)
						}
					}
				})
			})
		}
	}
}

func BenchmarkSubmit(b *testing.B) {
	const n = 10_000
	keys := benchKeys(n)
	m := meter(b, "1000000/d gcra")
	for _, charges := range []int{1, 3} {
		b.Run(fmt.Sprintf("charges=%d", charges), func(b *testing.B) {
			s := filled(b, keys, m)
			batch := &weir.Batch{Entries: []weir.Entry{{Charges: make([]weir.Charge, charges)}}}
			done := func(*weir.Batch) {}
			i := 0
			for b.Loop() {
				for j := range charges {
					batch.Entries[0].Charges[j] = weir.Charge{Key: keys[(i+j)%n], Meter: m, Cost: 1}
				}
				i++
				s.Submit(batch, done)
			}
		})
	}
}

// BenchmarkFlood is a new key at a full store, which evicts another.
func BenchmarkFlood(b *testing.B) {
	m := meter(b, "1000/d gcra")
	s := memstore.New(memstore.WithMaxKeys(100_000))
	k := make(keyMaker, 30)
	for i := range 100_000 {
		take(b, s, k.key(i), m, 1)
	}
	i := 100_000
	for b.Loop() {
		take(b, s, k.key(i), m, 1)
		i++
	}
}
