package memstore_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/memstore"
)

// renamed is a charge of a counter under two names.
func renamed(name string, how weir.Twinning, m *weir.Meter) weir.Charge {
	c := weir.Charge{Key: "{t}" + name + "/new", Twin: "{t}" + name + "/old", Twinning: how, Meter: m, Cost: 1}
	if how == weir.TwinNext {
		c.Key, c.Twin = c.Twin, c.Key
	}
	return c
}

// A counter that moves to another name takes its place along: nobody has to go,
// and the count of keys stays right.
func TestTwinsAtTheCap(t *testing.T) {
	const limit = 50
	m := meter(t, "100/h")
	evicted := 0
	s := memstore.New(memstore.WithMaxKeys(limit), memstore.WithHooks(weir.Hooks{Evicted: func(n int) { evicted += n }}))
	for round, how := range []weir.Twinning{weir.TwinNext, weir.TwinOld, weir.TwinNext, weir.TwinOld} {
		for i := range limit {
			e := decide(t, s, weir.Entry{Charges: []weir.Charge{renamed(fmt.Sprint(i), how, m)}})[0]
			if e.Err != nil || !e.Admitted || e.Outcomes[0].Before.Used != int64(round) {
				t.Fatalf("round %d, counter %d: %v, %+v", round, i, e.Err, e.Outcomes)
			}
		}
		if n := s.Len(); n != limit || evicted != 0 {
			t.Fatalf("round %d: %d keys are held and %d evicted, want %d and none", round, n, evicted, limit)
		}
	}
	for i := range limit {
		back := renamed(fmt.Sprint(i), weir.TwinNext, m)
		back.Mode, back.Cost = weir.Refund, 4
		decide(t, s, weir.Entry{Charges: []weir.Charge{back}})
	}
	if n := s.Len(); n != 0 {
		t.Errorf("%d keys are held after all was given back", n)
	}
	// The places are free again, as many as there were.
	for i := range limit {
		take(t, s, fmt.Sprint("k", i), m, 1)
	}
	if n := s.Len(); n != limit || evicted != 0 {
		t.Errorf("%d keys are held and %d evicted, want %d and none", n, evicted, limit)
	}
}

// An entry's twins count against the cap.
func TestMoreTwinsThanTheCap(t *testing.T) {
	m := meter(t, "100/h")
	s := memstore.New(memstore.WithMaxKeys(3))
	a, b := renamed("a", weir.TwinLast, m), renamed("b", weir.TwinLast, m)
	got := decide(t, s, weir.Entry{Charges: []weir.Charge{a, b}})[0]
	if weir.CodeOf(got.Err) != weir.CodeOverload || s.Len() != 0 {
		t.Errorf("error %v, %d keys; want overload and none", got.Err, s.Len())
	}
	got = decide(t, s, weir.Entry{Charges: []weir.Charge{a, {Key: "b", Meter: m, Cost: 1}}})[0]
	if got.Err != nil || !got.Admitted || s.Len() != 3 {
		t.Errorf("as many names as the cap: error %v, %d keys", got.Err, s.Len())
	}
}

// TestTwinsKeepCount does anything to a few counters of every length of name,
// in a store that is too small for them: what it counts is what it holds.
func TestTwinsKeepCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	clock := newTestClock()
	s := memstore.New(memstore.WithMaxKeys(40), clock.option())
	var meters []*weir.Meter
	for _, text := range everyAlgorithm {
		meters = append(meters, meter(t, text))
	}
	for i := range 20_000 {
		n := rng.IntN(30)
		c := renamed(strings.Repeat("x", n*n/3)+fmt.Sprint(n), weir.Twinning(1+rng.IntN(3)), meters[n%len(meters)])
		c.Cost = rng.Int64N(60)
		if rng.IntN(2) == 0 {
			c.Mode = weir.Refund
		}
		if rng.IntN(4) == 0 {
			c.Twin, c.Twinning = "", weir.TwinNone
		}
		if e := decide(t, s, weir.Entry{ID: fmt.Sprint(i % 7), Charges: []weir.Charge{c}})[0]; e.Err != nil {
			t.Fatal(e.Err)
		}
		clock.move(weir.Micros(rng.Int64N(int64(weir.Second))))
	}
	if n := s.Len(); n > 40 {
		t.Errorf("%d keys are held, the cap is 40", n)
	}
	clock.move(weir.Hour)
	m := meter(t, "1/h")
	for i := range 40 {
		take(t, s, fmt.Sprint("fresh", i), m, 1)
	}
	held := 0
	for i := range 40 {
		held += int(used(t, s, fmt.Sprint("fresh", i), m))
	}
	if held != 40 || s.Len() != 40 {
		t.Errorf("%d of 40 fresh keys fit and %d are counted", held, s.Len())
	}
}

func TestTwinsAllocateNothing(t *testing.T) {
	clock := newTestClock()
	for _, text := range everyAlgorithm {
		m := meter(t, text)
		s := memstore.New(clock.option())
		for _, how := range []weir.Twinning{weir.TwinNext, weir.TwinLast, weir.TwinOld} {
			b := &weir.Batch{Entries: []weir.Entry{{ID: "id", Charges: []weir.Charge{renamed("a", how, m), renamed("b", how, m)}}}}
			if m.Machine != weir.Slots {
				b.Entries[0].ID = ""
			}
			zero(t, text+", "+how.String(), func() {
				clock.move(100 * weir.Millisecond)
				s.Submit(b, func(*weir.Batch) {})
			})
		}
	}
}

func BenchmarkTwins(b *testing.B) {
	m := meter(b, "1000000/d gcra")
	for _, how := range []weir.Twinning{weir.TwinNext, weir.TwinLast, weir.TwinOld} {
		b.Run(how.String(), func(b *testing.B) {
			s := memstore.New()
			batches := make([]weir.Batch, 10_000)
			for i := range batches {
				batches[i].Entries = []weir.Entry{{Charges: []weir.Charge{renamed(fmt.Sprint("counter", i), how, m)}}}
			}
			b.ReportAllocs()
			done := func(*weir.Batch) {}
			for i := 0; b.Loop(); i++ {
				s.Submit(&batches[i%len(batches)], done)
			}
		})
	}
}
