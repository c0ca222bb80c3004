package lease_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/lease"
)

func meter(a weir.Algorithm, count int64, window weir.Micros, burst int64) *weir.Meter {
	return weir.MustMeter(weir.Limit{Algorithm: a, Count: count, Window: window, Burst: burst})
}

var standard = lease.Config{}.Settle()

func TestMost(t *testing.T) {
	for _, c := range []struct {
		m     *weir.Meter
		share float64
		nodes int
		want  int64
	}{
		{meter(weir.GCRA, 100, weir.Second, 0), 0.05, 1, 5},
		{meter(weir.GCRA, 100, weir.Second, 1000), 0.05, 1, 50},
		{meter(weir.TokenBucket, 100, weir.Second, 1000), 0.05, 3, 16},
		{meter(weir.SlidingWindow, 3000, weir.Minute, 0), 0.05, 2, 75},
		{meter(weir.FixedWindow, 3000, weir.Minute, 0), 0.05, 0, 150},
		{meter(weir.FixedWindow, 19, weir.Minute, 0), 0.05, 1, 0},
		{meter(weir.FixedWindow, 20, weir.Minute, 0), 0.05, 1, 1},
		{meter(weir.FixedWindow, 20, weir.Minute, 0), 0.05, 2, 0},
		{meter(weir.LeakyBucket, 1000, weir.Second, 0), 0.05, 1, 0},
		{meter(weir.SlidingLog, 1000, weir.Second, 0), 0.05, 1, 0},
		{meter(weir.Concurrency, 1000, weir.Second, 0), 0.05, 1, 0},
	} {
		got := lease.Config{Share: c.share, Refresh: lease.DefaultRefresh}.Most(c.m, c.nodes)
		if got != c.want {
			t.Errorf("%v, %v of it, %d nodes: %d, want %d", c.m.Limit, c.share, c.nodes, got, c.want)
		}
	}
}

func TestMostIsAShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Int64Range(1, weir.MaxCount).Draw(t, "count")
		nodes := rapid.IntRange(1, 500).Draw(t, "nodes")
		c := lease.Config{Share: rapid.Float64Range(0.001, lease.MaxShare).Draw(t, "share"), Refresh: lease.DefaultRefresh}
		m := meter(weir.SlidingWindow, count, weir.Minute, 0)
		n := c.Most(m, nodes)
		if n < 0 || float64(n)*float64(nodes) > c.Share*float64(count)+1e-6 {
			t.Fatalf("%d nodes may hold %d each of %d", nodes, n, count)
		}
	})
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		c     lease.Config
		field string
	}{
		{standard, ""},
		{lease.Config{Share: 0.5, Refresh: lease.MinRefresh}, ""},
		{lease.Config{Share: 0.51, Refresh: lease.MinRefresh}, "share"},
		{lease.Config{Share: -0.1, Refresh: lease.MinRefresh}, "share"},
		{lease.Config{Share: math.NaN(), Refresh: lease.MinRefresh}, "share"},
		{lease.Config{Share: 0.1, Refresh: lease.MinRefresh - 1}, "refresh"},
		{lease.Config{Share: 0.1, Refresh: lease.MaxRefresh + 1}, "refresh"},
	} {
		err := c.c.Validate()
		if c.field == "" && err != nil || c.field != "" && (err == nil || err.(*weir.Error).Field != c.field) {
			t.Errorf("%+v: %v, want field %q", c.c, err, c.field)
		}
	}
}

func TestUntil(t *testing.T) {
	const sent, ms = 10 * weir.Second, weir.Millisecond
	for _, c := range []struct {
		m       *weir.Meter
		refresh weir.Micros
		reset   weir.Micros
		want    weir.Micros
	}{
		{meter(weir.GCRA, 100, weir.Second, 0), 100 * ms, 3 * ms, 498_500},      // 500 ms less 1 ms and 0.1%
		{meter(weir.GCRA, 100, weir.Second, 0), 20 * ms, 3 * ms, 98_900},        // five times the interval
		{meter(weir.GCRA, 100, weir.Second, 0), 250 * ms, 3 * ms, 498_500},      // never above half a second
		{meter(weir.SlidingWindow, 100, weir.Second, 0), 100 * ms, 0, 61_438},   // a sixteenth of the window
		{meter(weir.SlidingWindow, 100, weir.Minute, 0), 100 * ms, 0, 498_500},  // which may be long
		{meter(weir.FixedWindow, 100, weir.Minute, 0), 100 * ms, 60e6, 498_500}, // far from its end
		{meter(weir.FixedWindow, 100, weir.Minute, 0), 100 * ms, 50 * ms, 48_950},
		{meter(weir.FixedWindow, 100, weir.Minute, 0), 100 * ms, ms, 0}, // too near
		{meter(weir.FixedWindow, 100, weir.Minute, 0), 100 * ms, 0, 0},
	} {
		o := weir.Outcome{ResetAfter: c.reset}
		got := lease.Config{Share: 0.05, Refresh: c.refresh}.Until(sent, c.m, &o)
		if got != sent+c.want {
			t.Errorf("%v, refresh %v, reset %v: lives %v, want %v", c.m.Limit, c.refresh, c.reset, got-sent, c.want)
		}
	}
}

// terms of a lease that nothing bounds.
var free = lease.Terms{Refresh: lease.DefaultRefresh, Life: 498_500, Most: 1 << 40, Least: 1}

func TestSizer(t *testing.T) {
	var s lease.Sizer
	now := weir.Second
	s.Seed(1000, now)
	if n := s.Want(now, free); n != 100 {
		t.Fatalf("first lease %d, want the rate times the interval", n)
	}
	s.Granted(now, 100, 40, free)
	if s.Size() != 50 {
		t.Errorf("granted 40 of 100: size %d, want half", s.Size())
	}
	for i, want := range []int64{62, 74, 86, 98, 100, 100} { // used up in 60 ms each, at the same rate
		now += 60 * weir.Millisecond
		s.Ask(60)
		n := s.Want(now, free)
		if n != want {
			t.Errorf("lease %d: %d, want %d", i, n, want)
		}
		s.Granted(now, n, n, free)
	}
	now += 200 * weir.Millisecond // a lease that lasted
	s.Ask(40)
	if n := s.Want(now, free); n >= 100 || n < 70 {
		t.Errorf("rate fell: %d", n)
	}
}

func TestSizerBounds(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*lease.Terms)
		want   int64
	}{
		"nothing":                  {func(*lease.Terms) {}, 100},
		"what may be held":         {func(t *lease.Terms) { t.Most = 7 }, 7},
		"what is held":             {func(t *lease.Terms) { t.Most, t.Held = 80, 20 }, 60},
		"all is held":              {func(t *lease.Terms) { t.Most, t.Held = 80, 80 }, 0},
		"nothing may be held":      {func(t *lease.Terms) { t.Most = 0 }, 0},
		"a cost above the size":    {func(t *lease.Terms) { t.Least = 150 }, 150},
		"a cost above the room":    {func(t *lease.Terms) { t.Least, t.Most = 8, 7 }, 0},
		"a short life":             {func(t *lease.Terms) { t.Life = 61_438 }, 30},
		"the end of a window":      {func(t *lease.Terms) { t.Left = 20_000 }, 20},
		"the very end of a window": {func(t *lease.Terms) { t.Left = 900 }, 0},
	} {
		var s lease.Sizer
		s.Seed(1000, weir.Second)
		terms := free
		c.change(&terms)
		if n := s.Want(weir.Second, terms); n != c.want {
			t.Errorf("%s: %d, want %d", name, n, c.want)
		}
	}
}

// A lease that lives for a sub-window is taken only of what is as good as certain
// to be used in it.
func TestSizerShortLife(t *testing.T) {
	for _, c := range []struct {
		rate        float64
		least, want int64
	}{
		{35, 1, 0},    // two expected: every seventh time none would come
		{65, 1, 0},    // 4
		{100, 1, 1},   // 6
		{130, 1, 2},   // 8
		{325, 1, 9},   // 20, and half of that is 9.98
		{325, 4, 0},   // 20 units are 5 requests
		{1000, 1, 30}, // 61, and half of that is less than is certain
	} {
		var s lease.Sizer
		s.Seed(c.rate, weir.Second)
		terms := free
		terms.Life, terms.Least = 61_438, c.least
		if n := s.Want(weir.Second, terms); n != c.want {
			t.Errorf("%v/s, cost %d: %d, want %d", c.rate, c.least, n, c.want)
		}
	}
}

func TestSizerRests(t *testing.T) {
	var s lease.Sizer
	now := weir.Second
	s.Seed(1000, now)
	for i, want := range []weir.Micros{100, 200, 400, 800, 1600, 3200, 3200} {
		s.Granted(now, 10, 0, free)
		rest := want * weir.Millisecond
		if s.Want(now+rest-1, free) != 0 || !s.Resting(now+rest-1) || s.Resting(now+rest) {
			t.Errorf("grant of nothing %d: does not rest for %v", i, rest)
		}
		now += rest
	}
	s.Granted(now, 10, 10, free)
	s.Failed(now, free)
	if s.Resting(now + free.Refresh) {
		t.Error("a grant did not end the row")
	}
}

// drive runs callers of one rate against leases for a while. It returns how
// many were taken.
func drive(s *lease.Sizer, from, span weir.Micros, rate int64, terms lease.Terms) (taken int) {
	held, until := int64(0), from
	for i := int64(0); ; i++ {
		now := from + weir.Micros(i*int64(weir.Second)/rate)
		if now >= from+span {
			return taken
		}
		s.Ask(1)
		if now >= until {
			held = 0
		}
		if held > 0 {
			held--
			if held >= s.Size()/5 {
				continue
			}
		}
		if n := s.Want(now, terms); n > 0 {
			s.Granted(now, n, n, terms)
			held, until, taken = held+n, now+terms.Life, taken+1
		}
	}
}

func TestWhaleConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Int64Range(50, 5_000).Draw(t, "rate")
		factor := rapid.SampledFrom([]int64{2, 3, 10}).Draw(t, "factor")
		var s lease.Sizer
		now := weir.Second
		s.Seed(float64(rate), now)
		drive(&s, now, 3*weir.Second, rate, free)
		now += 3 * weir.Second
		checkSize := func(rate int64) {
			want := float64(rate) / 10
			if got := float64(s.Size()); math.Abs(got-want) > want/10+1 {
				t.Fatalf("at %d/s the size is %v, want about %v", rate, got, want)
			}
		}
		checkSize(rate)
		drive(&s, now, 5*weir.Second, rate*factor, free)
		checkSize(rate * factor)
		now += 5 * weir.Second
		drive(&s, now, 5*weir.Second, rate, free)
		checkSize(rate)
	})
}

// However it is driven, a wish is never above the room nor below what is of
// use, and a size never below 1.
func TestSizerNeverAbove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s lease.Sizer
		now := weir.Second
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += weir.Micros(rapid.Int64Range(0, 1_000_000).Draw(t, "wait"))
			s.Ask(rapid.Int64Range(0, 1_000_000).Draw(t, "asked"))
			terms := free
			terms.Most = rapid.Int64Range(0, 200_000).Draw(t, "most")
			terms.Held = rapid.Int64Range(0, 200_000).Draw(t, "held")
			terms.Least = rapid.Int64Range(1, 50).Draw(t, "least")
			terms.Left = weir.Micros(rapid.Int64Range(0, 1_000_000).Draw(t, "left"))
			n := s.Want(now, terms)
			if n < 0 || n > max(0, terms.Most-terms.Held) || n > 0 && (n < terms.Least || s.Size() > terms.Most) {
				t.Fatalf("want %d of %+v", n, terms)
			}
			if n > 0 {
				s.Granted(now, n, rapid.Int64Range(0, n).Draw(t, "got"), terms)
			}
		}
	})
}

func ExampleConfig_Most() {
	c := lease.Config{}.Settle()
	m := weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 1000, Window: weir.Second})
	fmt.Println(c.Most(m, 1), c.Most(m, 10), c.Most(m, 100))
	// Output: 50 5 0
}
