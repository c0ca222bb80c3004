package share_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"github.com/weirlimit/weir/internal/degrade/share"
)

// fleet is several instances and the store they share, in virtual time.
type fleet struct {
	meter  *weir.Meter
	nodes  []*node
	store  algo.State
	away   bool
	now    weir.Micros
	passed int64 // by anyone
	stood  int64 // in for the store
}

func newFleet(m *weir.Meter, n, parts int) *fleet {
	f := &fleet{meter: m, now: start}
	for range n {
		f.nodes = append(f.nodes, &node{meter: m, parts: parts})
	}
	return f
}

// ask is one request at one instance.
func (f *fleet) ask(at int, cost int64) (ok bool) {
	n := f.nodes[at]
	if f.away {
		if ok = n.ask(f.now, weir.Enforce, cost).OK; ok {
			f.stood += cost
		}
	} else {
		o := algo.Decide(f.meter, &f.store, f.now, cost, algo.Owner{})
		n.state.Learn(share.NewsOf(f.meter, o.Remaining, f.now))
		ok = o.OK
	}
	if ok {
		f.passed += cost
	}
	return ok
}

// supply is what a limit admits at most in a span, without its burst; rounded up.
func supply(m *weir.Meter, span weir.Micros) int64 {
	return int64(float64(span)*float64(m.Limit.Count)/float64(m.Limit.Window)) + 1
}

var limits = []string{
	"20/s burst 20", "7/3s burst 10", "100/m burst 5", "3/h burst 50", "1000/s burst 1000", "1/s burst 1", "9/7s token_bucket",
}

// windows supply more than a rate, and less: what holds for them is what is let
// through in the store's place.
var windows = []string{"100/m fixed_window", "5/s fixed_window", "50/m", "1000/h", "10/s sliding_log"}

func drawFleet(t *rapid.T, more ...string) *fleet {
	l, err := weir.ParseLimit(rapid.SampledFrom(slices.Concat(limits, more)).Draw(t, "limit"))
	if err != nil {
		t.Fatal(err)
	}
	n := rapid.IntRange(1, 6).Draw(t, "instances")
	return newFleet(weir.MustMeter(l), n, n)
}

// run sends requests for a while, of single units.
func (f *fleet) run(t *rapid.T, label string) {
	for range rapid.IntRange(0, 60).Draw(t, label) {
		f.now += weir.Micros(rapid.SampledFrom([]int{0, 0, 1, 1000, 50_000, 400_000, 5_000_000}).Draw(t, "gap"))
		f.ask(rapid.IntRange(0, len(f.nodes)-1).Draw(t, "at"), 1)
	}
}

// One outage costs one burst at most, whatever was known and whatever is lost in
// it costs one more.
func TestOneOutage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFleet(t)
		f.run(t, "before")
		f.away = true
		f.run(t, "during")
		losses := int64(0)
		if rapid.Bool().Draw(t, "data lost") {
			f.store, losses = algo.State{}, 1
		}
		f.away = false
		f.run(t, "after")
		burst := max(f.meter.Capacity, int64(len(f.nodes)))
		if most := burst*(2+losses) + supply(f.meter, f.now-start); f.passed > most {
			t.Fatalf("%d passed, want %d at most (burst %d)", f.passed, most, burst)
		}
	})
}

// Where every instance has heard the last word, an outage in which the store
// loses everything costs the burst that is lost and not one more.
func TestWarmOutage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFleet(t)
		f.run(t, "before")
		for i := range f.nodes {
			o, _ := algo.Peek(f.meter, f.store, f.now, 0, nil)
			f.nodes[i].state.Learn(share.NewsOf(f.meter, o.Remaining, f.now))
		}
		f.away = true
		f.run(t, "during")
		f.store, f.away = algo.State{}, false
		f.run(t, "after")
		// A share of one unit at least refills by one where an even part is less.
		slack := int64(0)
		if f.meter.Capacity < int64(len(f.nodes)) {
			slack = int64(len(f.nodes))
		}
		if most := 2*f.meter.Capacity + slack + supply(f.meter, f.now-start); f.passed > most {
			t.Fatalf("%d passed, want %d at most", f.passed, most)
		}
	})
}

// drain has every instance asked until it denies.
func (f *fleet) drain() {
	for at := range f.nodes {
		for f.ask(at, 1) {
		}
	}
}

// A store that answers a call now and then while it is away does not make an
// outage cost a second burst: what it says it has is what was let through here.
func TestAnswersInAnOutage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFleet(t)
		f.drain()
		for i := range f.nodes {
			f.nodes[i].state.Learn(share.NewsOf(f.meter, 0, f.now))
		}
		f.away = true
		answered := int64(0)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			// Short ones, so that all that flows in is asked for.
			full := f.meter.Capacity * int64(f.meter.Limit.Window) / f.meter.Limit.Count
			f.now += weir.Micros(rapid.Int64Range(1, max(1, full/8)).Draw(t, "gap"))
			if rapid.IntRange(0, 9).Draw(t, "answers") == 0 {
				f.away = false
				f.ask(rapid.IntRange(0, len(f.nodes)-1).Draw(t, "at"), 1)
				f.away = true
				answered++
			}
			f.drain()
		}
		f.away = false
		f.drain()
		burst := max(f.meter.Capacity, int64(len(f.nodes)))
		if most := 2*burst + answered + supply(f.meter, f.now-start); f.passed > most {
			t.Fatalf("%d passed, want %d at most (burst %d)", f.passed, most, burst)
		}
	})
}

// However often the store comes and goes, and with it its data, what is let
// through in its place is one burst and the rate.
func TestFlapping(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFleet(t, windows...)
		for range rapid.IntRange(1, 10).Draw(t, "flaps") {
			f.away = false
			if rapid.Bool().Draw(t, "data lost") {
				f.store = algo.State{}
			}
			f.run(t, "answers")
			f.away = true
			f.run(t, "away")
		}
		burst := max(f.meter.Capacity, int64(len(f.nodes)))
		if most := burst + supply(f.meter, f.now-start); f.stood > most {
			t.Fatalf("%d were let through, want %d at most", f.stood, most)
		}
	})
}

// A stricter share never lets through what a wider one denies, of requests that
// are asked of both.
func TestStrictIsBelowOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFleet(t, windows...)
		strict := newFleet(f.meter, 1, 4*f.nodes[0].parts)
		f.away, strict.away = true, true
		if heard := rapid.Int64Range(-1, f.meter.Capacity).Draw(t, "heard"); heard >= 0 {
			f.nodes[0].state.Learn(share.NewsOf(f.meter, heard, f.now))
			strict.nodes[0].state.Learn(share.NewsOf(f.meter, heard, f.now))
		}
		for range rapid.IntRange(1, 80).Draw(t, "requests") {
			f.now += weir.Micros(rapid.IntRange(0, 2_000_000).Draw(t, "gap"))
			strict.now = f.now
			f.ask(0, 1)
			strict.ask(0, 1)
			if strict.passed > f.passed {
				t.Fatalf("%d passed the strict share, %d the open one", strict.passed, f.passed)
			}
		}
	})
}

// Retry-after is exact, and there always is one for what the limit allows.
func TestNeverDead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFleet(t, windows...)
		f.run(t, "before")
		f.away = true
		n := f.nodes[0]
		for range rapid.IntRange(1, 20).Draw(t, "requests") {
			cost := rapid.Int64Range(1, f.meter.Capacity).Draw(t, "cost")
			o := n.ask(f.now, weir.Enforce, cost)
			if o.OK {
				continue
			}
			if o.RetryAfter <= 0 || o.RetryAfter == weir.Never {
				t.Fatalf("cost %d of %d: %+v", cost, f.meter.Capacity, o)
			}
			early, late := f.now+o.RetryAfter-1, f.now+o.RetryAfter
			if n.ask(early, weir.Peek, cost).OK || !n.ask(late, weir.Enforce, cost).OK {
				t.Fatalf("cost %d of %d is not admitted at %d exactly", cost, f.meter.Capacity, o.RetryAfter)
			}
			f.now = late
		}
	})
}
