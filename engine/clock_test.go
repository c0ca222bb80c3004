package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/ticks"
)

// An instant told by an anchor is what both clocks of the machine tell.
func TestClockTellsBothTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		if i, _ := c.now(); i < time.Second {
			t.Errorf("starts at %v: 0 is to be no instant", i)
		}
		for _, step := range []time.Duration{0, 1, time.Millisecond, anchorFor - 1, anchorFor, time.Hour, 48 * time.Hour} {
			time.Sleep(step)
			i, a := c.now()
			if got, want := a.micros(i), weir.MicrosAt(time.Now()); got != want {
				t.Errorf("after %v more: %d us, want %d", step, got, want)
			}
			if got := a.time(i + time.Minute); !got.Equal(time.Now().Add(time.Minute)) || got.Round(0) != time.Now().Add(time.Minute).Round(0) {
				t.Errorf("after %v more: %v, want a minute after %v", step, got, time.Now())
			}
		}
	})
}

// A wall clock that is set is noticed with the next anchor: none is older than
// anchorFor.
func TestAnchorsAreRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		c.ticks = false
		c.drop(&anchor{})
		_, first := c.now()
		time.Sleep(anchorFor - 1)
		if _, a := c.now(); a != first {
			t.Error("renewed too early: one is to serve many decisions")
		}
		time.Sleep(time.Nanosecond)
		if _, a := c.now(); a == first {
			t.Errorf("not renewed after %v", anchorFor)
		}
	})
}

// A counter that does not keep time with the clock is never gone by: here the
// clock stands still and jumps, whatever the counter does.
func TestClockDistrustsCounter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		c.ticks = true
		c.drop(&anchor{})
		for step := range 200 {
			time.Sleep(time.Duration(step%7) * time.Millisecond)
			if i, a := c.now(); i != time.Since(c.start) || a.span > 0 {
				t.Fatalf("step %d: %v, want %v; the counter is gone by for %d ticks", step, i, time.Since(c.start), a.span)
			}
		}
		if _, a := c.now(); ticks.Usable() && a.lost < maxLost {
			t.Errorf("still tried after it was wrong %d times", a.lost)
		}
	})
}

// One that does is soon gone by, and tells the same time.
func TestClockGoesByCounter(t *testing.T) {
	if !ticks.Usable() {
		return // and there is nothing to go by
	}
	c := newClock()
	for began := time.Now(); ; {
		if _, a := c.now(); a.span > 0 && a.lasts >= anchorFor/growth {
			break
		}
		if time.Since(began) > 10*time.Second {
			t.Fatal("the counter is not trusted")
		}
		time.Sleep(time.Millisecond)
	}
	least := time.Hour
	for range 10_000 {
		before := time.Since(c.start)
		i, _ := c.now()
		after := time.Since(c.start)
		least = min(least, max(before-i, i-after, 0))
	}
	if least > time.Microsecond {
		t.Errorf("always off by %v or more", least)
	}
}

func TestLearn(t *testing.T) {
	const third = 1 << 62 / 3 * 4 // of 2^64: a counter of 3 GHz
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	first := anchor{since: ms(1000), tick: 1e9}
	rated := anchor{since: ms(1004), tick: 1e9 + 12e6, rate: third}
	for _, c := range []struct {
		name   string
		last   anchor
		since  time.Duration
		tick   uint64
		loose  bool
		known  bool // the rate
		span   time.Duration
		lasts  time.Duration
		lost   uint8
		noTick bool
	}{
		{name: "nothing before", last: anchor{}, since: ms(1000), tick: 1e9, lasts: learnFor},
		{name: "a rate", last: first, since: ms(1004), tick: 1e9 + 12e6, known: true, lasts: learnFor},
		{name: "the same again", last: rated, since: ms(1008), tick: 1e9 + 24e6, known: true, span: ms(32), lasts: ms(32)},
		{name: "after long", last: rated, since: ms(5004), tick: 1e9 + 12e6 + 12e9, known: true, span: anchorFor, lasts: anchorFor},
		{name: "another", last: rated, since: ms(1008), tick: 1e9 + 24e6 + 1e5, known: true, lasts: learnFor, lost: 1},
		{name: "too slow", last: first, since: ms(1004), tick: 1e9 + 3e6, lasts: learnFor, lost: 1},
		{name: "back", last: rated, since: ms(1008), tick: 1e8, known: true, lasts: learnFor, lost: 1},
		{name: "interrupted", last: rated, since: ms(1008), tick: 1e9 + 24e6, loose: true, lasts: learnFor, noTick: true},
		{name: "the clock stood", last: rated, since: ms(1004), tick: 1e9 + 24e6, lasts: learnFor, lost: 1},
	} {
		a := anchor{since: c.since, tick: c.tick}
		a.learn(&c.last, !c.loose)
		span := time.Duration(0)
		if a.span > 0 {
			span = time.Duration((a.span + 2) / 3)
		}
		if (a.rate > 0) != c.known || span.Round(time.Microsecond) != c.span || a.lasts != c.lasts || a.lost != c.lost || (a.tick == 0) != c.noTick {
			t.Errorf("%s: rate %d, for %v, lasts %v, lost %d, tick %d", c.name, a.rate, span, a.lasts, a.lost, a.tick)
		}
	}
}

// An answer is waited for whether it comes before, and turn after turn.
func TestWaiterTurns(t *testing.T) {
	w := waiter{wake: make(chan struct{}, 1)}
	boom := &weir.Error{Code: weir.CodeInternal}
	for turn := range 1000 {
		var want error
		if turn%3 == 0 {
			want = boom
		}
		w.begin()
		if turn%2 == 0 {
			w.answer(want)
		} else {
			go w.answer(want)
		}
		if got := w.wait(); got != want {
			t.Fatalf("turn %d: %v, want %v", turn, got, want)
		}
	}
}

// One in timedOneIn is timed, the first at once, and those after it are said to
// have taken as long.
func TestTimedOneIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		var s sampled
		for n := range 3 * timedOneIn {
			began, a := c.now()
			time.Sleep(time.Duration(n+1) * time.Millisecond)
			if got, want := s.took(c, began, a), time.Duration(n-n%timedOneIn+1)*time.Millisecond; got != want {
				t.Errorf("number %d took %v, want %v", n, got, want)
			}
		}
	})
}
