package local

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/stage"
	"github.com/weirlimit/weir/memstore"
)

// TestGrantKeepsItsTime: a lease lives as long as was granted, whatever is held
// beside it, and no other one lives longer than it was granted for.
func TestGrantKeepsItsTime(t *testing.T) {
	for name, tc := range map[string]struct {
		cur, next, granted pool
		sent               weir.Micros
		wantCur, wantNext  pool
		lost               int64
	}{
		"nothing held":             {granted: pool{10, 500}, sent: 100, wantCur: pool{10, 500}},
		"beside one":               {cur: pool{2, 300}, granted: pool{10, 500}, sent: 100, wantCur: pool{2, 300}, wantNext: pool{10, 500}},
		"beside one that is later": {cur: pool{2, 600}, granted: pool{10, 500}, sent: 100, wantCur: pool{10, 500}, wantNext: pool{2, 600}},
		"beside two":               {cur: pool{2, 300}, next: pool{3, 400}, granted: pool{10, 500}, sent: 100, wantCur: pool{5, 300}, wantNext: pool{10, 500}},
		"between two":              {cur: pool{2, 300}, next: pool{3, 600}, granted: pool{10, 500}, sent: 100, wantCur: pool{12, 300}, wantNext: pool{3, 600}},
		"before two":               {cur: pool{2, 300}, next: pool{3, 600}, granted: pool{10, 200}, sent: 100, wantCur: pool{12, 200}, wantNext: pool{3, 600}},
		"after one that ended":     {cur: pool{2, 300}, granted: pool{10, 500}, sent: 300, wantCur: pool{10, 500}, lost: 2},
		"after two that ended":     {cur: pool{2, 300}, next: pool{3, 300}, granted: pool{10, 500}, sent: 310, wantCur: pool{10, 500}, lost: 5},
		"while two end":            {cur: pool{2, 300}, next: pool{3, 310}, granted: pool{10, 500}, sent: 299, wantCur: pool{5, 300}, wantNext: pool{10, 500}},
		"the first is used up":     {next: pool{3, 400}, granted: pool{10, 500}, sent: 100, wantCur: pool{3, 400}, wantNext: pool{10, 500}},
		"a used up one has ended":  {next: pool{3, 100}, granted: pool{10, 500}, sent: 100, wantCur: pool{10, 500}, lost: 3},
	} {
		h := holding{cur: tc.cur, next: tc.next}
		h.grant(tc.sent, tc.granted)
		if h.cur != tc.wantCur || h.next != tc.wantNext || h.lost != tc.lost {
			t.Errorf("%s: %v and %v, %d lost, want %v and %v, %d lost", name, h.cur, h.next, h.lost, tc.wantCur, tc.wantNext, tc.lost)
		}
	}
}

// TestUndoAfterTheCount: what is undone when the sketch has been told of it does
// not count as less than none.
func TestUndoAfterTheCount(t *testing.T) {
	c := &clock{now: weir.Second}
	n := newLeaseNode(t, memstore.New(memstore.WithClock(func() weir.Micros { return c.now })), LeaseOptions{})
	l := n.tier.leases.(*leaser)
	charge := weir.Charge{Key: "k", Meter: meter(t, "1000/s"), Cost: 1}
	for range 200 {
		n.check(c.now, 1, charge)
		c.now += weir.Millisecond
	}
	a := &stage.Ask{Now: c.now, Serial: 1, Entry: &weir.Entry{Charges: []weir.Charge{charge}, Outcomes: make([]weir.Outcome, 1)}, Hints: n.hints}
	until, _, ok := l.spend(a, 0)
	if !ok {
		t.Fatal("nothing is held")
	}
	if l.drain(a, 0) == 0 {
		t.Fatal("nothing was counted")
	}
	l.undo(a, []weir.Micros{until})
	if got := l.drain(a, 0); got != 0 {
		t.Errorf("%d requests, want none", got)
	}
}
