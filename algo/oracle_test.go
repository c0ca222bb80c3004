package algo_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"github.com/weirlimit/weir/internal/oracle"
	"pgregory.net/rapid"
)

// twin is one key under test and its oracle.
type twin struct {
	meter  *weir.Meter
	under  *weir.Meter // the one that last charged it
	state  algo.State
	oracle oracle.Counter
}

func newTwin(l weir.Limit) *twin {
	m := weir.MustMeter(l)
	return &twin{meter: m, under: m, oracle: oracle.New(l)}
}

// counter is what the oracle decides a charge on. A charge puts the key under
// its limit; who only looks leaves a key that is under another rate alone.
func (k *twin) counter(c weir.Charge) oracle.Counter {
	counter := k.oracle
	switch {
	case k.under.Mark == k.meter.Mark:
	case c.Mode == weir.Peek || c.Cost == 0:
		counter = counter.Clone()
	default:
		k.under = k.meter
	}
	counter.SetLimit(k.meter.Limit)
	return counter
}

// exact tells the limits for which algo promises what the oracle says.
func exact(l weir.Limit) bool {
	return l.Algorithm != weir.SlidingWindow || l.Count <= weir.RunsPerWindow
}

// settle decides one charge twice and compares.
func (k *twin) settle(t *rapid.T, now weir.Micros, cost int64, mode weir.Mode, id string) weir.Outcome {
	charges := []weir.Charge{{Key: "k", Meter: k.meter, Cost: cost, Mode: mode}}
	wantOK, want := oracle.Settle([]oracle.Key{{Counter: k.counter(charges[0]), Limit: k.meter.Limit}}, charges, id, now)
	var got weir.Outcome
	if mode == weir.Enforce {
		got = algo.Decide(k.meter, &k.state, now, cost, algo.OwnerOf(id))
	} else {
		out, states := make([]weir.Outcome, 1), []algo.State{k.state}
		ok := algo.Settle(charges, algo.OwnerOf(id), states, now, out)
		k.state, got = states[0], out[0]
		if ok != wantOK {
			t.Fatalf("%v: %s of %d at %d: admitted %v, oracle %v", k.meter.Limit, mode, cost, now, ok, wantOK)
		}
	}
	if got != want[0] {
		t.Fatalf("%v: %s of %d at %d:\n   got %+v\noracle %+v", k.meter.Limit, mode, cost, now, got, want[0])
	}
	return got
}

// drawMode draws a mode that suits the limit.
func drawMode(t *rapid.T, l weir.Limit) weir.Mode {
	modes := []weir.Mode{weir.Enforce, weir.Enforce, weir.Enforce, weir.Refund, weir.Shadow, weir.Peek}
	if l.Algorithm != weir.Concurrency {
		modes = append(modes, weir.Always, weir.UpTo)
	}
	return rapid.SampledFrom(modes).Draw(t, "mode")
}

// matchOracle runs one history of a key. It has fewer steps than the 34 runs
// that a small sliding window keeps, so that Always never makes one join runs.
func matchOracle(t *rapid.T) {
	l := drawLimit(t, everyAlgorithm...)
	if !exact(l) {
		l.Count = 1 + l.Count%weir.RunsPerWindow
	}
	k := newTwin(l)
	now, last := epoch, weir.Outcome{Remaining: k.meter.Capacity}
	for range rapid.IntRange(1, 30).Draw(t, "steps") {
		if rapid.IntRange(0, 9).Draw(t, "change") == 0 {
			k.change(t)
		}
		now += drawStep(t, k.meter.Limit, now, last, true)
		mode := drawMode(t, l)
		cost := drawCost(t, k.meter.Capacity, last.Remaining)
		id := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "id")
		last = k.settle(t, now, cost, mode, id)
	}
}

// change puts the key under another limit of the same algorithm.
func (k *twin) change(t *rapid.T) {
	was := k.meter.Limit
	next := drawLimit(t, was.Algorithm)
	if !exact(next) {
		next.Count = 1 + next.Count%weir.RunsPerWindow
	}
	m, charged := weir.MustMeter(next), k.under.Limit
	if same := charged.Count == next.Count && charged.Window == next.Window; !same && m.Mark == k.under.Mark {
		return // one in 16384: algo takes it for the same rate, at most a microsecond off
	}
	k.meter = m
}

func TestDecideAndSettleMatchTheOracle(t *testing.T) { checkLong(t, matchOracle) }

func FuzzDecideAndSettleMatchTheOracle(f *testing.F) { fuzzLong(f, matchOracle) }

// matchBounds runs one history of a sliding window too large to be exact: it
// admits whatever an exact log would, and at most ceil(count/16) - 1 more.
func matchBounds(t *rapid.T) {
	l := drawLimit(t, weir.SlidingWindow)
	l.Count = max(l.Count, weir.RunsPerWindow+1)
	m, s := weir.MustMeter(l), algo.State{}
	var admitted oracle.Rolling
	early := (l.Count+weir.RunsPerWindow-1)/weir.RunsPerWindow - 1
	now, last := epoch, weir.Outcome{Remaining: l.Count}
	for range rapid.IntRange(1, 100).Draw(t, "steps") {
		now += drawStep(t, l, now, last, false)
		cost := drawCost(t, l.Count, last.Remaining)
		last = algo.Decide(m, &s, now, cost, algo.Owner{})
		used := admitted.Within(now, l.Window)
		switch {
		case last.OK && cost > 0 && used+cost > l.Count+early:
			t.Fatalf("%v: %d of %d at %d admitted, with %d in the window", l, cost, l.Count, now, used)
		case !last.OK && used+cost <= l.Count:
			t.Fatalf("%v: %d of %d at %d denied, with %d in the window", l, cost, l.Count, now, used)
		}
		admitted.Admit(now, last.Granted)
	}
	if most := admitted.Most(l.Window); most > l.Count+early {
		t.Fatalf("%v: %d in one window", l, most)
	}
}

func TestLargeSlidingWindowStaysWithinItsBounds(t *testing.T) { checkLong(t, matchBounds) }

func FuzzLargeSlidingWindowStaysWithinItsBounds(f *testing.F) { fuzzLong(f, matchBounds) }
