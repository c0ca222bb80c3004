package memstore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

var everyAlgorithm = []string{
	"50/m gcra", "7/3s burst 10", "50/m token_bucket", "50/m leaky_bucket", "50/m fixed_window", "50/m",
	"50/m sliding_log", "50 concurrency 1m",
}

// A check of a key that is there allocates nothing, whether it passes or not.
func TestChecksAllocateNothing(t *testing.T) {
	for _, text := range everyAlgorithm {
		m := meter(t, text)
		clock := newTestClock()
		s := memstore.New(clock.option())
		for name, key := range map[string]string{"short": "k", "spilled": strings.Repeat("k", 100), "digest": strings.Repeat("k", 1000)} {
			b := &weir.Batch{Entries: []weir.Entry{{ID: "id", Charges: []weir.Charge{{Key: key, Meter: m, Cost: 1}}}}}
			if m.Machine != weir.Slots {
				b.Entries[0].ID = ""
				zero(t, text+", Take, "+name, func() {
					clock.move(100 * weir.Millisecond)
					_, _ = s.Take(key, m, 1)
				})
			}
			zero(t, text+", Submit, "+name, func() {
				clock.move(100 * weir.Millisecond)
				s.Submit(b, func(*weir.Batch) {})
			})
		}
	}
}

// Neither does an entry of many charges, with an id or without.
func TestEntriesAllocateNothing(t *testing.T) {
	clock := newTestClock()
	s := memstore.New(clock.option(), memstore.WithMaxReplays(1000))
	b := &weir.Batch{Entries: make([]weir.Entry, 1)}
	for _, text := range everyAlgorithm[:7] {
		for i := range 3 {
			b.Entries[0].Charges = append(b.Entries[0].Charges,
				weir.Charge{Key: fmt.Sprint(text, i), Meter: meter(t, text), Cost: 1})
		}
	}
	submit := func() {
		clock.move(100 * weir.Millisecond)
		s.Submit(b, func(*weir.Batch) {})
	}
	zero(t, "entry", submit)
	ids := make([]string, 5000)
	for i := range ids {
		ids[i] = fmt.Sprint("request-", i)
	}
	next := 0
	zero(t, "entry with id", func() {
		b.Entries[0].ID = ids[next%len(ids)]
		next++
		submit()
	})
	if b.Entries[0].Err != nil || s.Stats().Replays == 0 {
		t.Errorf("error %v, %+v; want ids to be remembered", b.Entries[0].Err, s.Stats())
	}
}

// At the cap a new key takes the place of another, in the memory of the other.
func TestFloodAllocatesLittle(t *testing.T) {
	m := meter(t, "10/h gcra")
	s := memstore.New(memstore.WithMaxKeys(2_000))
	k := make(keyMaker, 30)
	i := 0
	flood := func() {
		_, _ = s.Take(k.key(i), m, 1)
		i++
	}
	for range 10_000 {
		flood()
	}
	if n := testing.AllocsPerRun(5_000, flood); n != 0 {
		t.Errorf("%v allocations for a new key at the cap, want none", n)
	}
	if s.Stats().Evicted == 0 {
		t.Error("there was no eviction")
	}
}

func zero(t *testing.T, name string, f func()) {
	t.Helper()
	for range 1500 { // to the steady state
		f()
	}
	if n := testing.AllocsPerRun(1000, f); n != 0 {
		t.Errorf("%s: %v allocations, want none", name, n)
	}
}
