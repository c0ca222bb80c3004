package algo_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// benches are keys in the state that a busy one is in: charged at a steady
// pace, some charges admitted and some not.
var benches = []struct {
	name  string
	limit string
	pace  weir.Micros
}{
	{"gcra", "1000/s burst 100", 700},
	{"gcra_fraction", "700001/s burst 100", 1},
	{"token_bucket", "1000/s burst 100 token_bucket", 700},
	{"leaky_bucket", "1000/s burst 100 leaky_bucket", 700},
	{"fixed_window", "1000/s fixed_window", 700},
	{"sliding_window", "1000/s", 700},
	{"sliding_window_small", "16/s", 40_000},
	{"sliding_log_100", "100/s sliding_log", 7_000},
	{"concurrency_100", "100 concurrency 1s", 7_000},
}

// steady charges a key once a pace; its owners come round.
type steady struct {
	meter  *weir.Meter
	state  algo.State
	owners [128]algo.Owner
	now    weir.Micros
	pace   weir.Micros
	n      int
}

func newSteady(t testing.TB, limit string, pace weir.Micros) *steady {
	s := &steady{meter: parse(t, limit), now: epoch, pace: pace}
	for i := range s.owners {
		s.owners[i] = algo.OwnerOf(string(rune('a' + i)))
	}
	for range 4 * s.meter.Capacity {
		s.charge()
	}
	return s
}

func (s *steady) charge() weir.Outcome {
	s.now += s.pace
	s.n++
	return algo.Decide(s.meter, &s.state, s.now, 1, s.owners[s.n%len(s.owners)])
}

func BenchmarkDecide(b *testing.B) {
	for _, bb := range benches {
		b.Run(bb.name, func(b *testing.B) {
			s := newSteady(b, bb.limit, bb.pace)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				s.charge()
			}
		})
	}
}

func BenchmarkSettleThreeCharges(b *testing.B) {
	charges := []weir.Charge{
		{Key: "a", Meter: parse(b, "1000/s burst 100"), Cost: 1},
		{Key: "b", Meter: parse(b, "3000/m"), Cost: 1},
		{Key: "c", Meter: parse(b, "1000000/d fixed_window"), Cost: 1},
	}
	states, out := make([]algo.State, len(charges)), make([]weir.Outcome, len(charges))
	now := epoch
	b.ReportAllocs()
	for range b.N {
		now += 700
		algo.Settle(charges, algo.Owner{}, states, now, out)
	}
}

func BenchmarkCodec(b *testing.B) {
	for _, text := range []string{"700001/s burst 100", "1000/s"} {
		b.Run(text, func(b *testing.B) {
			s := newSteady(b, text, 1)
			var buf []byte
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				buf = algo.AppendState(buf[:0], s.meter, &s.state)
				if err := algo.ParseState(buf, s.meter, &s.state); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestDecidingDoesNotAllocate: not in the steady state, whatever the algorithm.
func TestDecidingDoesNotAllocate(t *testing.T) {
	for _, bb := range benches {
		s := newSteady(t, bb.limit, bb.pace)
		if n := testing.AllocsPerRun(1000, func() { s.charge() }); n != 0 {
			t.Errorf("%s: Decide allocates %v times", bb.name, n)
		}
		charges, states := []weir.Charge{{Key: "k", Meter: s.meter, Cost: 1}}, []algo.State{s.state}
		out := make([]weir.Outcome, 1)
		if n := testing.AllocsPerRun(1000, func() {
			s.now += s.pace
			s.n++
			algo.Settle(charges, s.owners[s.n%len(s.owners)], states, s.now, out)
		}); n != 0 {
			t.Errorf("%s: Settle allocates %v times", bb.name, n)
		}
		if states[0].Used == 0 {
			t.Errorf("%s: nothing in use", bb.name)
		}
		var buf []byte
		if n := testing.AllocsPerRun(1000, func() {
			buf = algo.AppendState(buf[:0], s.meter, &states[0])
			if err := algo.ParseState(buf, s.meter, &states[0]); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: the codec allocates %v times", bb.name, n)
		}
	}
}

// TestOwnersDoNotAllocate: ids are hashed on every check that has one.
func TestOwnersDoNotAllocate(t *testing.T) {
	e := weir.Entry{ID: "request-1", Charges: []weir.Charge{{Key: "tenant", Meter: parse(t, "10/s"), Cost: 1}}}
	_, _, scratch := algo.ReplayOwner(&e, nil)
	if n := testing.AllocsPerRun(1000, func() { _, _, scratch = algo.ReplayOwner(&e, scratch) }); n != 0 {
		t.Errorf("ReplayOwner allocates %v times", n)
	}
	if n := testing.AllocsPerRun(1000, func() { _ = algo.OwnerOf(e.ID) }); n != 0 {
		t.Errorf("OwnerOf allocates %v times", n)
	}
}
