package memstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

const workers = 8

// together runs f on several goroutines and waits for all.
func together(f func(worker int)) {
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { f(w) })
	}
	wg.Wait()
}

func TestConcurrentTakesNeverExceed(t *testing.T) {
	for _, text := range []string{"100/h gcra", "100/h fixed_window", "100/h", "100/h sliding_log"} {
		m := meter(t, text)
		clock := newTestClock()
		s := memstore.New(clock.option())
		var granted [4]atomic.Int64
		together(func(w int) {
			for i := range 400 {
				at := (i + w) % len(granted)
				o, err := s.Take(fmt.Sprint("key", at), m, 1)
				if err != nil {
					t.Error(err)
				}
				granted[at].Add(o.Granted)
			}
		})
		for i := range granted {
			if n := granted[i].Load(); n != 100 {
				t.Errorf("%s: %d units of 100 were granted of key %d", text, n, i)
			}
		}
	}
}

// Entries that share keys in every order neither lock each other out nor charge
// by halves.
func TestConcurrentEntriesAreAllOrNothing(t *testing.T) {
	const keys = 6
	m := meter(t, "500/h gcra")
	clock := newTestClock()
	s := memstore.New(clock.option())
	var admitted [keys]atomic.Int64
	together(func(w int) {
		rng := rand.New(rand.NewPCG(uint64(w), 1))
		b := &weir.Batch{Entries: make([]weir.Entry, 1)}
		for i := range 1000 {
			e := &b.Entries[0]
			*e = weir.Entry{Outcomes: e.Outcomes, Charges: e.Charges[:0]}
			if i%3 == 0 {
				e.ID = fmt.Sprint("worker ", w, " request ", i)
			}
			order := rng.Perm(keys)[:1+rng.IntN(4)]
			for _, k := range order {
				e.Charges = append(e.Charges, weir.Charge{Key: fmt.Sprint("key", k), Meter: m, Cost: 1})
			}
			s.Decide(context.Background(), b)
			if e.Err != nil {
				t.Error(e.Err)
			}
			for _, k := range order {
				if e.Admitted {
					admitted[k].Add(1)
				}
			}
		}
	})
	for k := range admitted {
		if n, in := admitted[k].Load(), used(t, s, fmt.Sprint("key", k), m); n != in || in > 500 {
			t.Errorf("key %d: %d admitted, %d in use of 500", k, n, in)
		}
	}
}

func TestConcurrentReplaysChargeOnce(t *testing.T) {
	m := meter(t, "1000/h gcra")
	s := memstore.New()
	var replayed atomic.Int64
	together(func(int) {
		for i := range 200 {
			e := decide(t, s, weir.Entry{ID: fmt.Sprint("id", i), Charges: []weir.Charge{{Key: "key", Meter: m, Cost: 1}}})[0]
			if e.Err != nil || !e.Admitted {
				t.Errorf("error %v, admitted %v", e.Err, e.Admitted)
			}
			if e.Replayed {
				replayed.Add(1)
			}
		}
	})
	if n := used(t, s, "key", m); n > 200 || n < 199 { // one may have drained
		t.Errorf("%d units are in use for 200 ids", n)
	}
	if n := replayed.Load(); n != 200*(workers-1) || s.Stats().Replayed != uint64(n) {
		t.Errorf("%d answers were replays, %+v, want %d", n, s.Stats(), 200*(workers-1))
	}
}

// Everything at once, at a cap that is always reached.
func TestConcurrentFlood(t *testing.T) {
	const limit = 3000
	m, short := meter(t, "10/h"), meter(t, "10/s")
	clock := newTestClock()
	s := memstore.New(memstore.WithMaxKeys(limit), memstore.WithShards(4), clock.option())
	together(func(w int) {
		rng := rand.New(rand.NewPCG(uint64(w), 2))
		for i := range 1500 {
			key := fmt.Sprint(rng.IntN(50_000))
			switch i % 16 {
			case 0:
				clock.move(10 * weir.Millisecond)
			case 1:
				if err := s.Reset(context.Background(), key); err != nil {
					t.Error(err)
				}
			case 2, 3:
				e := weir.Entry{ID: key}
				for j := range 10 {
					e.Charges = append(e.Charges, weir.Charge{Key: fmt.Sprint(key, ",", j), Meter: short, Cost: 1})
				}
				if e = decide(t, s, e)[0]; e.Err != nil {
					t.Error(e.Err)
				}
			case 4:
				s.Stats()
			default:
				if _, err := s.Take(key, m, 1); err != nil {
					t.Error(err)
				}
			}
			if n := s.Len(); n > limit {
				t.Errorf("%d keys are held, the cap is %d", n, limit)
			}
		}
	})
	if st := s.Stats(); st.Evicted == 0 || st.Expired == 0 {
		t.Errorf("%+v, want evictions and expiries", st)
	}
}
