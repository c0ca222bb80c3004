package memstore_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

// heavyKeys uses up the limit of n keys.
func heavyKeys(t *testing.T, s *memstore.Store, m *weir.Meter, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprint("heavy", i)
		take(t, s, keys[i], m, m.Capacity)
	}
	return keys
}

func lost(t *testing.T, s *memstore.Store, m *weir.Meter, keys []string) int {
	n := 0
	for _, k := range keys {
		if used(t, s, k, m) == 0 {
			n++
		}
	}
	return n
}

func TestFloodKeepsTheCapAndTheHeavyKeys(t *testing.T) {
	const limit = 4_000
	for _, algorithm := range []string{"100/h gcra", "100/h fixed_window", "100/h"} {
		t.Run(algorithm, func(t *testing.T) {
			m := meter(t, algorithm)
			clock := newTestClock()
			evicted := 0
			s := memstore.New(memstore.WithMaxKeys(limit), clock.option(),
				memstore.WithHooks(weir.Hooks{Evicted: func(n int) { evicted += n }}))
			heavy := heavyKeys(t, s, m, limit/2)
			for i := range 3 * limit {
				take(t, s, fmt.Sprintf("flood%07d", i), m, 1)
				if n := s.Len(); n > limit {
					t.Fatalf("%d keys are held, the cap is %d", n, limit)
				}
			}
			st := s.Stats()
			if want := limit/2 + 3*limit - limit; st.Keys != limit || st.Evicted != uint64(want) || evicted != want || st.Expired != 0 {
				t.Errorf("%+v, and the hook counted %d; want %d keys and %d evictions", st, evicted, limit, want)
			}
			if n := lost(t, s, m, heavy); n > 0 {
				t.Errorf("%d of %d heavy keys were lost", n, len(heavy))
			}
		})
	}
}

// A bucket's share is what is left of it now, not what it was.
func TestEvictsWhatHasDrained(t *testing.T) {
	const limit = 2000
	m := meter(t, "100/h burst 100")
	clock := newTestClock()
	s := memstore.New(memstore.WithMaxKeys(limit), clock.option())
	var old []string
	for i := range limit / 2 {
		old = append(old, fmt.Sprint("old", i))
		take(t, s, old[i], m, 90)
	}
	clock.move(50 * weir.Minute) // 6 or 7 of 90 are left
	var young []string
	for i := range limit / 2 {
		young = append(young, fmt.Sprint("young", i))
		take(t, s, young[i], m, 40)
	}
	for i := range limit / 4 {
		take(t, s, fmt.Sprint("new", i), m, 60)
	}
	if n := lost(t, s, m, young); n > 0 {
		t.Errorf("%d keys with 40%% in use went before others with 7%%", n)
	}
	if n := lost(t, s, m, old); n != limit/4 {
		t.Errorf("%d of the drained keys went, want %d", n, limit/4)
	}
}

func TestExpiredGoFirst(t *testing.T) {
	const limit = 15_000
	clock := newTestClock()
	s := memstore.New(memstore.WithMaxKeys(limit), clock.option())
	live, short := meter(t, "100/h"), meter(t, "100/s")
	for i := range limit {
		if i%3 == 0 {
			take(t, s, fmt.Sprint("live", i), live, 1)
		} else {
			take(t, s, fmt.Sprint("short", i), short, 100)
		}
	}
	clock.move(2 * weir.Second)
	for i := range limit / 3 * 2 { // as many as have expired
		take(t, s, fmt.Sprint("new", i), live, 1)
	}
	st := s.Stats()
	if st.Evicted != 0 || st.Keys != limit || st.Expired != limit/3*2 {
		t.Errorf("%+v, want %d keys, all that expired gone and no live one", st, limit)
	}
	take(t, s, "one more", live, 1)
	if st := s.Stats(); st.Evicted != 1 || st.Keys != limit {
		t.Errorf("%+v, want one eviction", st)
	}
}

func TestSmallCaps(t *testing.T) {
	m := meter(t, "100/h")
	for _, limit := range []int{1, 2, 3, 10, 63, 100, 600} {
		s := memstore.New(memstore.WithMaxKeys(limit), memstore.WithShards(64))
		for i := range 5 * limit {
			take(t, s, fmt.Sprint("k", i), m, 1)
			if n := s.Len(); n > limit || n != min(i+1, limit) {
				t.Fatalf("cap %d: %d keys are held after %d", limit, n, i+1)
			}
		}
	}
}

// The keys of an entry do not displace each other.
func TestEntryAtTheCap(t *testing.T) {
	m := meter(t, "100/h")
	clock := newTestClock()
	s := memstore.New(memstore.WithMaxKeys(64), clock.option())
	entry := func(first, n int) weir.Entry {
		var e weir.Entry
		for i := range n {
			e.Charges = append(e.Charges, weir.Charge{Key: fmt.Sprint("k", first+i), Meter: m, Cost: 50})
		}
		return e
	}
	for round := range 20 {
		e := decide(t, s, entry(32*round, 64))[0] // half of its keys are there
		if e.Err != nil || s.Len() != 64 {
			t.Fatalf("round %d: error %v, %d keys", round, e.Err, s.Len())
		}
		for i, c := range e.Charges {
			want := int64(50)
			if round > 0 && i < 32 {
				want = 100
			}
			if got := used(t, s, c.Key, m); e.Admitted && got != want {
				t.Fatalf("round %d: %s has %d in use, want %d", round, c.Key, got, want)
			}
		}
	}
}

// An expired state that an entry charges again is not swept under its hands.
func TestEntryKeepsItsExpiredKeys(t *testing.T) {
	const limit = 200
	clock := newTestClock()
	s := memstore.New(memstore.WithMaxKeys(limit), clock.option())
	m := meter(t, "10/s")
	for i := range limit {
		take(t, s, fmt.Sprint("k", i), m, 5)
	}
	clock.move(weir.Hour)
	var e weir.Entry
	for i := range 30 {
		e.Charges = append(e.Charges,
			weir.Charge{Key: fmt.Sprint("k", i), Meter: m, Cost: 1},
			weir.Charge{Key: fmt.Sprint("new", i), Meter: m, Cost: 1})
	}
	e = decide(t, s, e)[0]
	if e.Err != nil || !e.Admitted {
		t.Fatalf("the entry is not admitted: %+v", e)
	}
	for _, c := range e.Charges {
		if got := used(t, s, c.Key, m); got != 1 {
			t.Errorf("%s has %d in use, want 1", c.Key, got)
		}
	}
	if n := s.Len(); n != 60 {
		t.Errorf("%d keys are held, want the entry's 60", n)
	}
}

func TestMoreNewKeysThanTheCap(t *testing.T) {
	m := meter(t, "100/h")
	s := memstore.New(memstore.WithMaxKeys(3))
	var e weir.Entry
	for i := range 4 {
		e.Charges = append(e.Charges, weir.Charge{Key: fmt.Sprint("k", i), Meter: m, Cost: 1})
	}
	got := decide(t, s, e)[0]
	if weir.CodeOf(got.Err) != weir.CodeOverload || got.Admitted || s.Len() > 3 {
		t.Errorf("error %v, admitted %v, %d keys; want overload", got.Err, got.Admitted, s.Len())
	}
	for _, c := range e.Charges {
		if n := used(t, s, c.Key, m); n != 0 {
			t.Errorf("%s was charged %d by an entry without a decision", c.Key, n)
		}
	}
	e.Charges = e.Charges[:3]
	if got := decide(t, s, e)[0]; got.Err != nil || !got.Admitted {
		t.Errorf("as many keys as the cap: error %v, admitted %v", got.Err, got.Admitted)
	}
}

func TestDenialsAndLooksHoldNoMemory(t *testing.T) {
	m := meter(t, "10/h")
	s := memstore.New()
	for i := range 100 {
		k := fmt.Sprint("k", i)
		take(t, s, k, m, 11)
		take(t, s, k, m, 0)
		decide(t, s, weir.Entry{Charges: []weir.Charge{{Key: k, Meter: m, Cost: 1, Mode: weir.Peek}}},
			weir.Entry{Charges: []weir.Charge{{Key: k, Meter: m, Cost: 1, Mode: weir.Refund}}})
	}
	if n := s.Len(); n != 0 {
		t.Errorf("%d keys are held although none has anything in use", n)
	}
	take(t, s, "k", m, 2)
	decide(t, s, weir.Entry{Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 2, Mode: weir.Refund}}})
	if n := s.Len(); n != 0 {
		t.Errorf("%d keys are held after all was given back", n)
	}
	if err := s.Reset(context.Background(), "k"); err != nil {
		t.Error(err)
	}
}
