package oracle_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/oracle"
	"pgregory.net/rapid"
)

const second = weir.Second

// TestTextbook holds the oracle to sums that are done on paper.
func TestTextbook(t *testing.T) {
	type step struct {
		at          weir.Micros
		cost        int64
		ok          bool
		left        int64
		reset, wait weir.Micros // until reset, and until the charge fits
	}
	for _, tt := range []struct {
		limit string
		steps []step
	}{
		{"2/s burst 3", []step{
			{0, 3, true, 0, 1_500_000, 0},
			{0, 1, false, 0, 1_500_000, 500_000},
			{499_999, 1, false, 0, 1_000_001, 1},
			{500_000, 1, true, 0, 1_500_000, 0},
			{500_000, 4, false, 0, 1_500_000, weir.Never},
			{2 * second, 3, true, 0, 1_500_000, 0},
		}},
		{"3/s burst 1", []step{
			{0, 1, true, 0, 333_334, 0}, // a third of a second, rounded up
			{333_333, 1, false, 0, 1, 1},
			{333_334, 1, true, 0, 333_334, 0},
		}},
		{"2/10s sliding_log", []step{
			{0, 1, true, 1, 10 * second, 0},
			{4 * second, 1, true, 0, 10 * second, 0},
			{4 * second, 2, false, 0, 10 * second, 10 * second},
			{10 * second, 1, true, 0, 10 * second, 0},
			{14*second - 1, 1, false, 0, 6*second + 1, 1},
		}},
		{"2/10s fixed_window", []step{
			{9 * second, 2, true, 0, second, 0},
			{10*second - 1, 1, false, 0, 1, 1},
			{10 * second, 2, true, 0, 10 * second, 0},
		}},
	} {
		l, err := weir.ParseLimit(tt.limit)
		if err != nil {
			t.Fatal(err)
		}
		c := oracle.New(l)
		for i, s := range tt.steps {
			o := oracle.Decide(c, l, s.at, s.cost, "")
			if o.OK != s.ok || o.Remaining != s.left || o.ResetAfter != s.reset || o.RetryAfter != s.wait {
				t.Errorf("%s, step %d: %+v, want %+v", tt.limit, i, o, s)
			}
		}
	}
}

func TestConcurrencyByHand(t *testing.T) {
	l := weir.Limit{Algorithm: weir.Concurrency, Count: 2, Window: 10 * second}
	c := oracle.New(l)
	for i, s := range []struct {
		at      weir.Micros
		id      string
		ok      bool
		granted int64
	}{
		{0, "a", true, 1},
		{1, "b", true, 1},
		{2, "c", false, 0},
		{3, "a", true, 0},               // renews
		{1 + 10*second, "c", true, 1},   // b is given up
		{2 + 10*second, "b", false, 0},  // a is not, yet
		{3 + 10*second, "b", true, 1},   // now it is
		{13 + 10*second, "d", false, 0}, // b and c
	} {
		if o := oracle.Decide(c, l, s.at, 1, s.id); o.OK != s.ok || o.Granted != s.granted {
			t.Errorf("step %d: %+v, want %+v", i, o, s)
		}
	}
}

// TestRollingAgreesWithCounting tries every window there is.
func TestRollingAgreesWithCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r oracle.Rolling
		window, at := weir.Micros(rapid.IntRange(1, 8).Draw(t, "window")), weir.Micros(0)
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			at += weir.Micros(rapid.IntRange(0, 4).Draw(t, "gap"))
			r.Admit(at, rapid.Int64Range(1, 3).Draw(t, "n"))
		}
		most := int64(0)
		for end := weir.Micros(0); end <= at+window; end++ {
			most = max(most, r.Within(end, window))
		}
		if got := r.Most(window); got != most {
			t.Fatalf("at most %d, by counting %d", got, most)
		}
		first, least, found := weir.Micros(-1), int64(0), false
		for begin := weir.Micros(0); begin+window <= at; begin++ {
			if first < 0 && r.Within(begin, 1) > 0 {
				first = begin
			}
			if n := r.Within(begin+window, window); first >= 0 && (!found || n < least) {
				least, found = n, true
			}
		}
		got, ok := r.Least(window)
		if ok != found || got != least {
			t.Fatalf("at least %d (%v), by counting %d (%v)", got, ok, least, found)
		}
	})
}
