package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirlimit/weir"
)

// An instant told by an anchor is what both clocks of the machine tell.
func TestClockTellsBothTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		if c.now() < time.Second {
			t.Errorf("starts at %v: 0 is to be no instant", c.now())
		}
		for _, step := range []time.Duration{0, 1, time.Millisecond, anchorFor - 1, anchorFor, time.Hour, 48 * time.Hour} {
			time.Sleep(step)
			i := c.now()
			a := c.at(i)
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
		first := c.at(c.now())
		time.Sleep(anchorFor - 1)
		if c.at(c.now()) != first {
			t.Error("renewed too early: one is to serve many decisions")
		}
		time.Sleep(time.Nanosecond)
		if c.at(c.now()) == first {
			t.Errorf("not renewed after %v", anchorFor)
		}
	})
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
