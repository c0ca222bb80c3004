package chaos

import (
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/latency"
)

// What judges the game day is judged here.

func TestLedgerBeyond(t *testing.T) {
	const rate = 1 / 0.02 // a unit a step
	for _, tc := range []struct {
		name     string
		given    []given
		want     float64
		from, to int
	}{
		{"nothing", nil, 0, 0, 0},
		{"at the rate", []given{{0, 1}, {1, 2}, {2, 3}, {3, 4}}, 0, 0, 0},
		{"a burst", []given{{0, 1}, {4, 5}, {4, 5}, {4, 5}, {9, 10}}, 2, 4, 5},
		{"a burst over some steps", []given{{2, 3}, {2, 3}, {3, 4}, {3, 4}, {4, 5}, {4, 5}}, 3, 2, 5},
		{"on the way for long", []given{{0, 6}, {0, 6}, {0, 6}, {5, 6}, {5, 6}}, 1, 5, 6},
		{"asked before and answered within", []given{{3, 5}, {3, 5}, {4, 5}}, 1, 3, 5},
	} {
		l := &ledger{}
		l.mu.given = tc.given
		most, from, to := l.beyond(rate)
		if most < tc.want-1e-9 || most > tc.want+1e-9 || from != time.Duration(tc.from)*ledgerStep || to != time.Duration(tc.to)*ledgerStep {
			t.Errorf("%s: %v from %v to %v, want %v from step %d to %d", tc.name, most, from, to, tc.want, tc.from, tc.to)
		}
	}
}

// A unit is between the instants at which it was asked for and answered.
func TestLedgerNote(t *testing.T) {
	l := &ledger{began: time.Now().Add(-time.Second)}
	l.note(200*time.Millisecond, true)
	l.note(0, false)
	l.note(time.Hour, true)
	if asked, n := l.count(); asked != 3 || n != 2 {
		t.Errorf("%d asked, %d given", asked, n)
	}
	steps := int(time.Since(l.began) / ledgerStep)
	if g := l.mu.given[0]; g.asked < 40 || g.asked > g.answered-10 || g.answered < 51 || g.answered > steps+1 {
		t.Errorf("noted as %+v at step %d", g, steps)
	}
	if g := l.mu.given[1]; g.asked != 0 {
		t.Errorf("asked for before the beginning: %+v", g)
	}
}

func TestConverged(t *testing.T) {
	const tick = 250 * time.Millisecond
	for _, tc := range []struct {
		name  string
		sizes []int64 // of node 2; all others are at 40
		took  time.Duration
		ok    bool
	}{
		{"at once", []int64{40, 40, 40}, 0, true},
		{"from above and below", []int64{80, 20, 30, 50}, tick, true},
		{"just outside", []int64{29, 51, 40}, tick, true},
		{"a relapse", []int64{40, 40, 20, 40}, 2 * tick, true},
		{"not in the end", []int64{40, 40, 20}, 2 * tick, false},
		{"nothing seen", nil, 0, false},
	} {
		all := []sizes{{at: 0, rate: 1200}} // before, and not looked at
		for i, n := range tc.sizes {
			all = append(all, sizes{at: time.Second + time.Duration(i)*tick, rate: 1200, nodes: [whaleNodes]int64{40, n, 40}})
		}
		all = append(all, sizes{at: time.Minute, rate: 1200}) // after
		if took, ok := converged(all, time.Second, 30*time.Second, 0.25); took != tc.took || ok != tc.ok {
			t.Errorf("%s: %v, %v; want %v, %v", tc.name, took, ok, tc.took, tc.ok)
		}
	}
	if few := (sizes{rate: 60, nodes: [whaleNodes]int64{1, 2, 3}}); !few.near(0.25) {
		t.Error("a unit is not near 2")
	}
}

func TestSizesTable(t *testing.T) {
	var all []sizes
	for i := range 200 {
		all = append(all, sizes{at: time.Duration(i) * time.Second, rate: 600, nodes: [whaleNodes]int64{20, 21, int64(i)}})
	}
	got := sizesTable(all, func(at time.Duration) string { return "now" })
	if n := strings.Count(got, "\n"); n < 20 || n > 26 || !strings.Contains(got, "| 9.0 s | now | 600 | 20 | 20 | 21 | 9 |\n") {
		t.Errorf("%d lines:\n%s", n, got)
	}
	if p := page(longForm, "", time.Time{}, []*outcome{{fault: "x", after: got}}); !strings.HasSuffix(p, "|\n\n"+got) {
		t.Errorf("the page ends:\n%s", p[len(p)-200:])
	}
}

func TestUsualP99(t *testing.T) {
	windows := make([]latency.Histogram, 6) // the last has nothing
	for i, worst := range []time.Duration{time.Second, 2 * time.Millisecond, 3 * time.Millisecond, time.Millisecond, 40 * time.Millisecond} {
		windows[i].Record(time.Microsecond)
		windows[i].Record(worst)
	}
	if got := usualP99(windows); got < 2900*time.Microsecond || got > 3100*time.Microsecond {
		t.Errorf("%v, want 3 ms", got)
	}
	if got := usualP99(windows[5:]); got != 0 {
		t.Errorf("%v of nothing", got)
	}
}
