package algo_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// filled returns a key of 10 a second with that many units in use.
func filled(t *testing.T, used int64) (*weir.Meter, algo.State) {
	t.Helper()
	m, s := parse(t, "10/s burst 10"), algo.State{}
	chargeOne(m, &s, epoch, used, weir.Enforce, "")
	s.Dirty = false
	return m, s
}

// settled is the outcome of an entry whose charges have keys of their own.
type settled struct {
	admitted bool
	granted  []int64
	ok       []bool
	used     []int64
}

// settleFilled settles charges on keys that have used units of 10 in use.
func settleFilled(t *testing.T, used []int64, charges ...weir.Charge) settled {
	t.Helper()
	states, out := make([]algo.State, len(used)), make([]weir.Outcome, len(used))
	for i := range used {
		charges[i].Key = string(rune('a' + i))
		charges[i].Meter, states[i] = filled(t, used[i])
	}
	e := weir.Entry{Charges: charges, ID: "id"}
	if err := e.Validate(); err != nil {
		t.Fatal(err)
	}
	var got settled
	got.admitted = algo.Settle(charges, algo.OwnerOf("id"), states, epoch, out)
	for i := range out {
		got.granted = append(got.granted, out[i].Granted)
		got.ok = append(got.ok, out[i].OK)
		got.used = append(got.used, states[i].Used)
		if states[i].Dirty != (out[i].Granted != 0) {
			t.Errorf("charge %d: granted %d, dirty %v", i, out[i].Granted, states[i].Dirty)
		}
	}
	return got
}

func TestModes(t *testing.T) {
	charge := func(mode weir.Mode, cost int64, group ...uint8) weir.Charge {
		c := weir.Charge{Mode: mode, Cost: cost}
		if len(group) > 0 {
			c.Group = group[0]
		}
		return c
	}
	type charges = []weir.Charge
	for _, tt := range []struct {
		name     string
		used     []int64
		charges  charges
		admitted bool
		after    []int64
	}{
		{"all fit", []int64{0, 5}, charges{charge(weir.Enforce, 3), charge(weir.Enforce, 5)}, true, []int64{3, 10}},
		{"the second denies", []int64{0, 5}, charges{charge(weir.Enforce, 3), charge(weir.Enforce, 6)}, false, []int64{0, 5}},
		{"the first denies", []int64{10, 5}, charges{charge(weir.Enforce, 1), charge(weir.Enforce, 1)}, false, []int64{10, 5}},
		{"too costly", []int64{0, 0}, charges{charge(weir.Enforce, 11), charge(weir.Enforce, 1)}, false, []int64{0, 0}},
		{"a shadow does not deny", []int64{0, 10}, charges{charge(weir.Enforce, 3), charge(weir.Shadow, 1)}, true, []int64{3, 10}},
		{"a shadow counts what fits", []int64{0, 9}, charges{charge(weir.Enforce, 3), charge(weir.Shadow, 1)}, true, []int64{3, 10}},
		{"a shadow of a denied entry", []int64{10, 0}, charges{charge(weir.Enforce, 1), charge(weir.Shadow, 1)}, false, []int64{10, 0}},
		{"a lone shadow", []int64{10}, charges{charge(weir.Shadow, 1)}, true, []int64{10}},
		{"always counts past the limit and denies", []int64{9, 0}, charges{charge(weir.Always, 4), charge(weir.Enforce, 1)}, false, []int64{13, 0}},
		{"always counts when another denies", []int64{0, 10}, charges{charge(weir.Always, 4), charge(weir.Enforce, 1)}, false, []int64{4, 10}},
		{"a peek denies", []int64{0, 10}, charges{charge(weir.Enforce, 1), charge(weir.Peek, 1)}, false, []int64{0, 10}},
		{"a peek takes nothing", []int64{0, 0}, charges{charge(weir.Enforce, 1), charge(weir.Peek, 1)}, true, []int64{1, 0}},
		{"a refund beside a denial", []int64{10, 5}, charges{charge(weir.Enforce, 1), charge(weir.Refund, 9)}, false, []int64{10, 0}},
		{"up to the least of all", []int64{2, 7, 0}, charges{charge(weir.UpTo, 9), charge(weir.UpTo, 9), charge(weir.UpTo, 9)}, true, []int64{5, 10, 3}},
		{"up to what is wanted", []int64{2, 0}, charges{charge(weir.UpTo, 9), charge(weir.UpTo, 1)}, true, []int64{3, 1}},
		{"up to nothing", []int64{2, 10}, charges{charge(weir.UpTo, 9), charge(weir.UpTo, 9)}, true, []int64{2, 10}},
		{"of a group one has room", []int64{10, 5}, charges{charge(weir.Enforce, 1, 1), charge(weir.Enforce, 1, 1)}, true, []int64{10, 6}},
		{"of a group both have room", []int64{1, 5}, charges{charge(weir.Enforce, 1, 1), charge(weir.Enforce, 1, 1)}, true, []int64{2, 6}},
		{"of a group none has room", []int64{10, 10, 0}, charges{charge(weir.Enforce, 1, 1), charge(weir.Enforce, 1, 1), charge(weir.Enforce, 1)}, false, []int64{10, 10, 0}},
		{"a group with room beside a denial", []int64{10, 0, 10}, charges{charge(weir.Enforce, 1, 1), charge(weir.Enforce, 1, 1), charge(weir.Enforce, 1)}, false, []int64{10, 0, 10}},
		{"groups are judged apart", []int64{10, 0, 10}, charges{charge(weir.Enforce, 1, 1), charge(weir.Enforce, 1, 1), charge(weir.Enforce, 1, 2)}, false, []int64{10, 0, 10}},
		{"a cost of 0 always fits", []int64{10, 10}, charges{charge(weir.Enforce, 0), charge(weir.Peek, 0)}, true, []int64{10, 10}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := settleFilled(t, tt.used, tt.charges...)
			if got.admitted != tt.admitted {
				t.Errorf("admitted %v", got.admitted)
			}
			for i := range tt.after {
				if got.used[i] != tt.after[i] {
					t.Errorf("charge %d: %d in use after %d, want %d", i, got.used[i], tt.used[i], tt.after[i])
				}
			}
		})
	}
}

// TestAlwaysStopsAtTheCap: a state holds so much that it fits its three bytes
// and drains for at most 2^52 us, and counts no further.
func TestAlwaysStopsAtTheCap(t *testing.T) {
	for _, text := range []string{"10/s burst 10", "1/365d burst 2", "10/s", "10/m fixed_window", "10/s sliding_log"} {
		m, s := parse(t, text), algo.State{}
		sum := int64(0)
		for i := range 5 {
			o := chargeOne(m, &s, epoch+weir.Micros(i), weir.MaxUsed/3, weir.Always, "")
			sum += o.Granted
		}
		if s.Used != m.UsedCap || sum != s.Used {
			t.Errorf("%s: %d in use, %d granted, cap %d", text, s.Used, sum, m.UsedCap)
		}
		again := algo.State{}
		if err := algo.ParseState(algo.AppendState(nil, m, &s), m, &again); err != nil || again.Used != s.Used {
			t.Errorf("%s: stored %d, read %d: %v", text, s.Used, again.Used, err)
		}
	}
}

// TestRunsAreBounded: charges at ever new instants, counted past the limit, make
// no more runs than a meter allows, and what is joined is freed late.
func TestRunsAreBounded(t *testing.T) {
	for _, text := range []string{"1/s", "16/s", "100/s", "5/s sliding_log"} {
		m, s := parse(t, text), algo.State{}
		for i := range 3000 {
			chargeOne(m, &s, epoch+weir.Micros(i), 1+m.Capacity/8, weir.Always, "")
			if len(s.Runs) > m.MaxRuns {
				t.Fatalf("%s: %d runs", text, len(s.Runs))
			}
		}
		// The oldest unit was taken at epoch; those still held were joined to
		// later ones, so that nothing is free one window after epoch.
		o := chargeOne(m, &s, epoch+m.Limit.Window, 0, weir.Peek, "")
		if all := 3000 * (1 + m.Capacity/8); o.Before.Used != all {
			t.Errorf("%s: %d of %d in use", text, o.Before.Used, all)
		}
		if used := try(m, s, epoch+m.Limit.Window+2999, 0, "").Before.Used; used != 0 {
			t.Errorf("%s: %d in use one window after the last", text, used)
		}
	}
}
