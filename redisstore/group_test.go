package redisstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// crowd has n callers decide the same entry at once and returns what they got.
func crowd(s *Store, n int, e weir.Entry) []weir.Entry {
	answers := make([]weir.Entry, n)
	var start, end sync.WaitGroup
	start.Add(1)
	for i := range n {
		end.Go(func() {
			own := e
			own.Charges = slices.Clone(e.Charges)
			start.Wait()
			answers[i] = decide(s, own)
		})
	}
	start.Done()
	end.Wait()
	return answers
}

// countAdmitted fails the test on an error.
func countAdmitted(t *testing.T, answers []weir.Entry) int {
	t.Helper()
	n := 0
	for i := range answers {
		if answers[i].Err != nil {
			t.Fatalf("answer %d: %v", i, answers[i].Err)
		}
		if answers[i].Admitted {
			n++
		}
	}
	return n
}

func TestGroupCommit10000ChecksTakeFewCalls(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	const callers, capacity = 10_000, 7_000
	admit(t, s, one("warm", still(1))) // the script is loaded
	srv.MustDo("CONFIG", "RESETSTAT")

	answers := crowd(s, callers, one("{hot}", still(capacity)))

	if got := countAdmitted(t, answers); got != capacity {
		t.Errorf("%d of %d admitted, want exactly %d", got, callers, capacity)
	}
	calls := srv.CommandStats()["evalsha"]
	t.Logf("%d checks took %d script calls", callers, calls)
	if calls == 0 || calls >= 500 {
		t.Errorf("%d checks took %d script calls, want fewer than 500", callers, calls)
	}
}

// A batch of identical entries is one group, or a few when the first of them
// were under way before the last was queued; it must give what deciding them
// one after the other gives, in order.
func TestGroupingEqualsOneByOne(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	for _, tc := range []struct {
		name string
		l    weir.Limit
		cost int64
	}{
		{"gcra", weir.Limit{Algorithm: weir.GCRA, Count: 50, Window: weir.Year}, 1},
		{"gcra/cost", weir.Limit{Algorithm: weir.GCRA, Count: 50, Window: weir.Year}, 7},
		{"leaky_bucket", weir.Limit{Algorithm: weir.LeakyBucket, Count: 50, Window: weir.Year}, 3},
		{"fixed_window", weir.Limit{Algorithm: weir.FixedWindow, Count: 50, Window: weir.Year}, 3},
		{"sliding_window", weir.Limit{Algorithm: weir.SlidingWindow, Count: 50, Window: weir.Year}, 3},
		{"sliding_log", weir.Limit{Algorithm: weir.SlidingLog, Count: 50, Window: weir.Year}, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := weir.MustMeter(tc.l)
			entry := func(key string) weir.Entry {
				return weir.Entry{Charges: []weir.Charge{{Key: key, Meter: m, Cost: tc.cost}}}
			}
			const n = 60
			grouped := weir.Batch{Entries: make([]weir.Entry, n)}
			for i := range grouped.Entries {
				grouped.Entries[i] = entry("grouped/" + tc.name)
			}
			calls := srv.CommandStats()["evalsha"]
			s.Decide(context.Background(), &grouped)
			if got := srv.CommandStats()["evalsha"] - calls; got > n/4 {
				t.Fatalf("the batch took %d calls: nothing was grouped", got)
			}
			for i := range grouped.Entries {
				alone := decide(s, entry("alone/"+tc.name))
				got, want := grouped.Entries[i], alone
				if got.Err != nil || want.Err != nil {
					t.Fatalf("entry %d: errors %v, %v", i, got.Err, want.Err)
				}
				g, w := got.Outcomes[0], want.Outcomes[0]
				if got.Admitted != want.Admitted || g.OK != w.OK || g.Granted != w.Granted ||
					g.Remaining != w.Remaining || g.Before.Used != w.Before.Used {
					t.Errorf("entry %d: grouped %+v, one by one %+v", i, g, w)
				}
			}
		})
	}
}

// Concurrent callers see every remaining count once: no two answers are the
// same decision.
func TestConcurrentRemainingIsAPermutation(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	const capacity, callers = 500, 800
	answers := crowd(s, callers, one("{perm}", still(capacity)))
	if got := countAdmitted(t, answers); got != capacity {
		t.Fatalf("%d admitted, want %d", got, capacity)
	}
	var seen [capacity]bool
	for i := range answers {
		if !answers[i].Admitted {
			continue
		}
		r := answers[i].Outcomes[0].Remaining
		if r < 0 || r >= capacity || seen[r] {
			t.Fatalf("remaining %d was answered twice, or is none of 0 to %d", r, capacity-1)
		}
		seen[r] = true
	}
}

// Entries that differ in anything are not grouped into one.
func TestDifferentEntriesAreNotGrouped(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(1000)
	other := still(999)
	var b weir.Batch
	for i := range 4 {
		b.Entries = append(b.Entries,
			one("k", m),
			weir.Entry{Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 2}}},
			weir.Entry{Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 1, Mode: weir.Shadow}}},
			weir.Entry{Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 1, Group: 1}}},
			one("k2", other),
			weir.Entry{Charges: []weir.Charge{{Key: "k", Meter: m, Cost: 1}}, ID: fmt.Sprint("id", i)},
		)
	}
	s.Decide(context.Background(), &b)
	if got := countAdmitted(t, b.Entries); got != len(b.Entries) {
		t.Fatalf("%d of %d admitted", got, len(b.Entries))
	}
	if got := used(t, s, "k", m); got != 4*(1+2+1+1+1) {
		t.Errorf("k has %d units in use, want 24", got)
	}
	if got := used(t, s, "k2", other); got != 4 {
		t.Errorf("k2 has %d units in use, want 4", got)
	}
}

// Entries that follow each other are one group when they ask the same, whatever
// of it differs otherwise.
func TestGroupOfWhoAsksTheSame(t *testing.T) {
	m, other := still(10), still(11)
	for name, tc := range map[string]struct {
		change func(*weir.Entry)
		want   int
	}{
		"nothing": {func(*weir.Entry) {}, 1},
		"key":     {func(e *weir.Entry) { e.Charges[0].Key = "{k}2" }, 2},
		"longer":  {func(e *weir.Entry) { e.Charges[0].Key = "{k}11" }, 2},
		"shorter": {func(e *weir.Entry) { e.Charges[0].Key = "{k}" }, 2},
		"meter":   {func(e *weir.Entry) { e.Charges[0].Meter = other }, 2},
		"cost":    {func(e *weir.Entry) { e.Charges[0].Cost = 2 }, 2},
		"mode":    {func(e *weir.Entry) { e.Charges[0].Mode = weir.Always }, 2},
		"any of":  {func(e *weir.Entry) { e.Charges[0].Group = 1 }, 2},
		"twin":    {func(e *weir.Entry) { e.Charges[0].Twin, e.Charges[0].Twinning = "{k}t", weir.TwinNext }, 2},
		"id":      {func(e *weir.Entry) { e.ID = "r" }, 2},
		"charges": {func(e *weir.Entry) { e.Charges = append(e.Charges, weir.Charge{Key: "{k}3", Meter: m, Cost: 1}) }, 2},
	} {
		for _, prefix := range []string{"", "weir:"} {
			for _, swapped := range []bool{false, true} {
				a, b := one("{k}1", m), one("{k}1", m)
				tc.change(&b)
				if swapped {
					a, b = b, a
				}
				f := newFlight(&Store{opts: Options{Prefix: prefix}})
				items := make([]*item, 3)
				for i, e := range []*weir.Entry{&a, &b, &b} {
					items[i] = new(item)
					items[i].init(e, nil, 0, 0)
					items[i].identify(nil)
				}
				f.build(items, 16)
				want := tc.want
				if b.ID != "" {
					want++ // each by itself
				}
				if len(f.groups) != want {
					t.Errorf("%s (swapped %v, prefix %q): %d groups, want %d", name, swapped, prefix, len(f.groups), want)
				}
			}
		}
	}
}

// TestLookByAnotherAlgorithm: to it the counter is empty, and to those after it what it
// was.
func TestLookByAnotherAlgorithm(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	bucket := still(5)
	window := weir.MustMeter(weir.Limit{Algorithm: weir.FixedWindow, Count: 5, Window: weir.Year})
	admit(t, s, weir.Entry{Charges: []weir.Charge{{Key: "k", Meter: bucket, Cost: 5}}})
	b := weir.Batch{Entries: []weir.Entry{
		{Charges: []weir.Charge{{Key: "k", Meter: window, Mode: weir.Peek, Cost: 1}}},
		one("k", bucket),
	}}
	together(t, s, srv, &b)
	for i, want := range []bool{true, false} {
		if e := &b.Entries[i]; e.Err != nil || e.Admitted != want {
			t.Errorf("entry %d: %v, %v", i, e.Admitted, e.Err)
		}
	}
	if got := used(t, s, "k", bucket); got != 5 {
		t.Errorf("%d units are in use, want 5", got)
	}
}
