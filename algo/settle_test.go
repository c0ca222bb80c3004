package algo_test

import (
	"fmt"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"github.com/weirlimit/weir/internal/oracle"
	"pgregory.net/rapid"
)

// desk is a handful of keys on which entries are settled.
type desk struct {
	twins []*twin
	now   weir.Micros
	last  []weir.Outcome
}

func drawDesk(t *rapid.T) *desk {
	d := &desk{now: epoch}
	for range rapid.IntRange(1, 5).Draw(t, "keys") {
		l := drawLimit(t, everyAlgorithm...)
		if !exact(l) {
			l.Count = 1 + l.Count%weir.RunsPerWindow
		}
		d.twins = append(d.twins, newTwin(l))
		d.last = append(d.last, weir.Outcome{Remaining: l.Capacity()})
	}
	return d
}

// drawEntry draws an entry over some of the keys; which says the twin of each
// charge.
func (d *desk) drawEntry(t *rapid.T) (e weir.Entry, which []int) {
	e.ID = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id")
	upTo := rapid.IntRange(0, 7).Draw(t, "up to") == 0
	for i, k := range d.twins {
		l := k.meter.Limit
		if upTo && l.Algorithm == weir.Concurrency || rapid.IntRange(0, 3).Draw(t, "without") == 0 {
			continue
		}
		c := weir.Charge{Key: fmt.Sprint("k", i), Meter: k.meter, Mode: weir.UpTo}
		for !upTo && c.Mode == weir.UpTo {
			c.Mode = drawMode(t, l)
		}
		if c.Mode == weir.Enforce || c.Mode == weir.Always {
			c.Group = rapid.SampledFrom([]uint8{0, 0, 1, 2}).Draw(t, "group")
		}
		c.Cost = drawCost(t, k.meter.Capacity, d.last[i].Remaining)
		e.Charges, which = append(e.Charges, c), append(which, i)
	}
	return e, which
}

// settle decides an entry and returns the states before it.
func (d *desk) settle(t *rapid.T, e *weir.Entry, which []int) (before []algo.State) {
	states := make([]algo.State, len(which))
	for i, w := range which {
		states[i] = d.twins[w].state
		states[i].Dirty = false
		before = append(before, clone(states[i]))
	}
	e.Outcomes = make([]weir.Outcome, len(which))
	e.Admitted = algo.Settle(e.Charges, algo.OwnerOf(e.ID), states, d.now, e.Outcomes)
	for i, w := range which {
		d.twins[w].state = states[i]
		d.last[w] = e.Outcomes[i]
	}
	return before
}

// eachEntry settles entries with some keys in common.
func eachEntry(t *rapid.T, do func(d *desk, e *weir.Entry, which []int)) {
	d := drawDesk(t)
	for range rapid.IntRange(1, 15).Draw(t, "entries") {
		on := rapid.IntRange(0, len(d.twins)-1).Draw(t, "on")
		d.now += drawStep(t, d.twins[on].meter.Limit, d.now, d.last[on], true)
		e, which := d.drawEntry(t)
		if len(which) == 0 {
			continue
		}
		if err := e.Validate(); err != nil {
			t.Fatalf("drew an invalid entry: %v", err)
		}
		do(d, &e, which)
	}
}

func settleMatchesOracle(t *rapid.T) {
	eachEntry(t, func(d *desk, e *weir.Entry, which []int) {
		var keys []oracle.Key
		for _, w := range which {
			keys = append(keys, oracle.Key{Counter: d.twins[w].oracle, Limit: d.twins[w].meter.Limit})
		}
		d.settle(t, e, which)
		admitted, want := oracle.Settle(keys, e.Charges, e.ID, d.now)
		if e.Admitted != admitted {
			t.Fatalf("%+v: admitted %v, oracle %v", e.Charges, e.Admitted, admitted)
		}
		for i, o := range e.Outcomes {
			if o != want[i] {
				t.Fatalf("charge %d of %+v on %v:\n   got %+v\noracle %+v", i, e.Charges, keys[i].Limit, o, want[i])
			}
		}
	})
}

func TestSettleMatchesTheOracle(t *testing.T) { checkLong(t, settleMatchesOracle) }

func FuzzSettleMatchesTheOracle(f *testing.F) { fuzzLong(f, settleMatchesOracle) }

// TestADeniedEntryChargesNothing: whatever was denied, the states of those that
// could have been charged are as they were, and need not be written.
func TestADeniedEntryChargesNothing(t *testing.T) {
	denied := 0
	rapid.Check(t, func(t *rapid.T) {
		eachEntry(t, func(d *desk, e *weir.Entry, which []int) {
			before := d.settle(t, e, which)
			if e.Admitted {
				return
			}
			denied++
			for i, w := range which {
				if mode := e.Charges[i].Mode; mode == weir.Always || mode == weir.Refund {
					continue
				}
				if o := e.Outcomes[i]; o.Granted != 0 || o.Delay != 0 || d.twins[w].state.Dirty {
					t.Fatalf("charge %d of a denied entry: %+v, dirty %v", i, o, d.twins[w].state.Dirty)
				}
				a := try(e.Charges[i].Meter, before[i], d.now, 0, "z")
				if b := try(e.Charges[i].Meter, d.twins[w].state, d.now, 0, "z"); a != b {
					t.Fatalf("charge %d of a denied entry changed %+v to %+v", i, a, b)
				}
			}
		})
	})
	if denied == 0 {
		t.Error("no entry was denied")
	}
}

// TestShadowChangesNoVerdict: without its shadow charges an entry gets the same
// verdict, and its other charges the same outcomes.
func TestShadowChangesNoVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eachEntry(t, func(d *desk, e *weir.Entry, which []int) {
			var plain weir.Entry
			var states []algo.State
			for i, c := range e.Charges {
				if c.Mode != weir.Shadow {
					plain.Charges = append(plain.Charges, c)
					states = append(states, clone(d.twins[which[i]].state))
				}
			}
			d.settle(t, e, which)
			if len(plain.Charges) == 0 {
				if !e.Admitted {
					t.Fatalf("denied by shadows: %+v", e.Charges)
				}
				return
			}
			out := make([]weir.Outcome, len(states))
			if algo.Settle(plain.Charges, algo.OwnerOf(e.ID), states, d.now, out) != e.Admitted {
				t.Fatalf("%+v: admitted %v, and not so without its shadows", e.Charges, e.Admitted)
			}
			for i, c := range e.Charges {
				if c.Mode == weir.Shadow {
					continue
				}
				if out[0] != e.Outcomes[i] {
					t.Fatalf("charge %d beside shadows:\nwith    %+v\nwithout %+v", i, e.Outcomes[i], out[0])
				}
				out = out[1:]
			}
		})
	})
}
