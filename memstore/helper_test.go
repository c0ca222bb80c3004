package memstore_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

const start = 1_700_000_000 * weir.Second

// testClock is a clock that stands still unless it is moved.
type testClock struct{ atomic.Int64 }

func newTestClock() *testClock {
	c := new(testClock)
	c.Store(int64(start))
	return c
}

func (c *testClock) now() weir.Micros        { return weir.Micros(c.Load()) }
func (c *testClock) move(by weir.Micros)     { c.Add(int64(by)) }
func (c *testClock) option() memstore.Option { return memstore.WithClock(c.now) }

func meter(t testing.TB, text string) *weir.Meter {
	t.Helper()
	l, err := weir.ParseLimit(text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := weir.NewMeter(l)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// take takes, and fails the test on an error.
func take(t testing.TB, s *memstore.Store, key string, m *weir.Meter, cost int64) weir.Outcome {
	t.Helper()
	o, err := s.Take(key, m, cost)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// decide decides entries in one batch and returns them.
func decide(t testing.TB, s weir.Store, entries ...weir.Entry) []weir.Entry {
	t.Helper()
	b := &weir.Batch{Entries: entries}
	called := 0
	s.Submit(b, func(got *weir.Batch) {
		if got != b {
			t.Errorf("done got another batch")
		}
		called++
	})
	if called != 1 {
		t.Fatalf("done was called %d times before Submit returned, want once", called)
	}
	return b.Entries
}

// used is what Read finds in use.
func used(t testing.TB, s weir.Store, key string, m *weir.Meter) int64 {
	t.Helper()
	o, err := s.Read(context.Background(), key, m)
	if err != nil {
		t.Fatal(err)
	}
	return o.Before.Used
}
