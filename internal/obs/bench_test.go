package obs

import (
	"fmt"
	"io"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

func someRules(n int) []RuleInfo {
	rules := make([]RuleInfo, n)
	for i := range rules {
		rules[i] = RuleInfo{Domain: "api", ID: fmt.Sprintf("tenant_%d.path", i)}
	}
	return rules
}

// The bar: below 30 ns and no allocation, also when all cores count the same rule.
func BenchmarkDecided(b *testing.B) {
	for _, rules := range []int{1, 100, DefaultMaxRules} {
		b.Run(fmt.Sprintf("rules=%d", rules), func(b *testing.B) {
			m := New(Options{})
			m.SetLoaded(1, "v1", someRules(rules))
			decided := m.Hooks().Decided
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				d := &weir.Decision{Verdict: weir.Allow, SetSerial: 1}
				r := &weir.Request{}
				took := 731 * time.Microsecond
				for pb.Next() {
					decided(r, d, took)
					took += 17
					if d.RuleIndex++; d.RuleIndex == int32(rules) {
						d.RuleIndex = 0
					}
				}
			})
		})
	}
}

func BenchmarkStoreCall(b *testing.B) {
	m := New(Options{})
	call := m.Hooks().StoreCall
	b.ReportAllocs()
	for b.Loop() {
		call(weir.StoreCall{Shard: "10.0.0.1:6379", Entries: 64, Groups: 32, Keys: 32, Took: 300 * time.Microsecond, Script: 100 * time.Microsecond})
	}
}

// What a scrape of the largest set costs, in two versions.
func BenchmarkScrape(b *testing.B) {
	m := New(Options{})
	m.SetLoaded(1, "v1", someRules(DefaultMaxRules))
	m.SetLoaded(2, "v2", someRules(DefaultMaxRules))
	h := m.Handler()
	r := httptest.NewRequest("GET", "/metrics", nil)
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		n, err := io.Copy(io.Discard, w.Body)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(n)
	}
}

func BenchmarkSetLoaded(b *testing.B) {
	m := New(Options{})
	rules := someRules(100_000)
	serial := uint32(0)
	for b.Loop() {
		serial++
		m.SetLoaded(serial, fmt.Sprint(serial), rules)
	}
}
