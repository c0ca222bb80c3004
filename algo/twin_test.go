package algo_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// TestCountsUntilNothingIsInUse: a state counts for as long as a look at it
// finds units in use, under its own limit and under another.
func TestCountsUntilNothingIsInUse(t *testing.T) {
	var meters []*weir.Meter
	for _, text := range []string{
		"3/s burst 3", "7/s burst 11", "30011/s burst 40", "10/s burst 5 leaky_bucket",
		"5/s fixed_window", "100/h fixed_window", "3/s", "100/m", "5/s sliding_log", "3 concurrency 30s", "10 concurrency 1h",
	} {
		meters = append(meters, parse(t, text))
	}
	for _, m := range meters {
		for _, under := range meters {
			for start := range weir.Micros(30) {
				s, now := used(m, 1e15+start*333_337)
				looked := now
				if o, _ := algo.Peek(under, s, now, 0, nil); o.ResetAfter > 0 {
					looked += o.ResetAfter
				}
				for _, at := range []weir.Micros{now, looked - 1, looked, looked + 1} {
					o, _ := algo.Peek(under, s, at, 0, nil)
					if got, want := s.Counts(under, at), o.Before.Used > 0; got != want {
						t.Errorf("%s under %s counts: %v, but %d units are in use", m.Limit, under.Limit, got, o.Before.Used)
					}
				}
			}
		}
	}
}

// used is a state some charges after start, and when it is.
func used(m *weir.Meter, start weir.Micros) (s algo.State, now weir.Micros) {
	now = start
	for i, pause := range []weir.Micros{70_001, 211_003, 19, 120_007} {
		algo.Decide(m, &s, now, int64(i%3)+1, algo.OwnerOf(string(rune('a'+i))))
		now += pause
	}
	return s, now
}

func TestCopyFromSharesNoMemory(t *testing.T) {
	m := parse(t, "5/s sliding_log")
	var s, c algo.State
	algo.Decide(m, &s, 10, 2, algo.Owner{})
	c.CopyFrom(&s)
	algo.Decide(m, &s, 10, 1, algo.Owner{})
	if c.Used != 2 || len(c.Runs) != 1 || c.Runs[0].N != 2 {
		t.Errorf("the copy became %+v", c)
	}
}

// TestReplayOwnerIsTheElderNames: an entry is known again whichever of its
// counter's names is the key by now.
func TestReplayOwnerIsTheElderNames(t *testing.T) {
	m := parse(t, "10/s")
	owner := func(c weir.Charge) algo.Owner {
		c.Meter, c.Cost = m, 1
		o, _, _ := algo.ReplayOwner(&weir.Entry{ID: "id", Charges: []weir.Charge{c}}, nil)
		return o
	}
	first := owner(weir.Charge{Key: "{a}old"})
	for _, c := range []weir.Charge{
		{Key: "{a}old", Twin: "{a}new", Twinning: weir.TwinNext},
		{Key: "{a}new", Twin: "{a}old", Twinning: weir.TwinLast},
		{Key: "{a}new", Twin: "{a}old", Twinning: weir.TwinOld},
	} {
		if owner(c) != first {
			t.Errorf("twinning %s: another owner", c.Twinning)
		}
	}
	if owner(weir.Charge{Key: "{a}new"}) == first {
		t.Error("another counter has the owner")
	}
}
