package engine

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/ticks"
)

// clock tells the time of a decision with one reading of the machine's clock,
// where time.Now takes two: one of the wall, and one that cannot be set back. A
// reading is a tenth of a decision that no network is asked for. Where the
// processor's counter is known to agree with the clock, it is read instead, which
// takes a third of the time; see learn.
//
// The wall's time is that of the last anchor and what has passed since. A clock
// that is set is so noticed within a second.
type clock struct {
	start  time.Time // what instants are counted from; immutable
	ticks  bool      // the processor has a counter; immutable
	anchor atomic.Pointer[anchor]
}

// anchor is an instant by both clocks, and by the counter. It is immutable.
type anchor struct {
	at    time.Time
	wall  weir.Micros
	since instant       // of at
	lasts time.Duration // how long it is used

	tick uint64 // the counter at the instant
	span uint64 // for so many ticks the counter tells the time; 0 when it does not
	rate uint64 // nanoseconds in a tick, in parts of 2^64; 0 when not known
	lost uint8  // how often the counter did not agree
}

// instant is a time since the clock's start, of which it is a second or more: 0
// is none.
type instant = time.Duration

const (
	// anchorFor is how long an anchor is used.
	anchorFor = time.Second
	// learnFor is how long it is while the counter's rate is learnt, and growth
	// how much longer the next: what a reading is off by, some 50 ns, is then off
	// by less than a microsecond at the end of the next.
	learnFor = 4 * time.Millisecond
	growth   = 8
	// agree is the part by which two rates may differ, 1 in so many. A processor's
	// differ by far less; those of a clock that is not real, as in tests, by more.
	agree = 1000
	// maxLost: a counter that did not agree so often is not tried again.
	maxLost = 8
	// looseTicks is how far apart, in ticks, two readings of the counter are
	// between which something else was done than reading the clock.
	looseTicks = 5000
)

func newClock() *clock {
	c := &clock{start: time.Now().Add(-time.Second), ticks: ticks.Usable()}
	c.drop(&anchor{})
	return c
}

// now returns the instant, and the anchor to tell it by.
func (c *clock) now() (instant, *anchor) {
	a := c.anchor.Load()
	if i := a.counted(); i > 0 {
		return i, a
	}
	if i := time.Since(c.start); i-a.since < a.lasts {
		return i, a
	}
	return c.drop(a)
}

// counted is the instant by the counter, or 0 when that does not tell it.
func (a *anchor) counted() instant {
	n := ticks.Read() - a.tick
	if n >= a.span {
		return 0
	}
	ns, _ := bits.Mul64(n, a.rate)
	return a.since + instant(ns)
}

// after is how long ago an instant was that an anchor told.
func (c *clock) after(began instant, a *anchor) time.Duration {
	i := a.counted()
	if i == 0 {
		i, _ = c.now()
	}
	return max(i-began, 0) // another anchor may be off by less than a microsecond
}

// sampled is how long decisions take that wait for nobody. To read the clock once
// more is a tenth of one: one in timedOneIn is timed, and speaks for those after it
// that the same memory is used for.
type sampled struct {
	last  time.Duration
	until uint8 // so many are not timed
}

const timedOneIn = 8

func (s *sampled) took(c *clock, began instant, a *anchor) time.Duration {
	if s.until == 0 {
		s.last, s.until = c.after(began, a), timedOneIn
	}
	s.until--
	return s.last
}

// drop makes another anchor. Of several who do so at once any will do.
func (c *clock) drop(last *anchor) (instant, *anchor) {
	before := ticks.Read()
	now := time.Now()
	apart := ticks.Read() - before
	a := &anchor{at: now, wall: weir.MicrosAt(now), since: now.Sub(c.start), lasts: anchorFor, lost: last.lost}
	if c.ticks && a.lost < maxLost {
		a.tick = before + apart/2
		a.learn(last, apart < looseTicks)
	}
	c.anchor.Store(a)
	return a.since, a
}

// learn finds out how fast the counter runs:
//
//	nothing known -- 4 ms --> a rate -- 4 ms, and it is the same --> trusted -+
//	      ^                      ^        | it differs                |  ^      |
//	      +-- a loose reading ---+--------+---------------------------+  +------+
//	                                                                   up to 1 s each
func (a *anchor) learn(last *anchor, tight bool) {
	a.lasts = learnFor
	elapsed, n := uint64(a.since-last.since), a.tick-last.tick
	switch {
	case !tight:
		a.tick = 0
		return
	case last.tick == 0:
		return
	case a.since <= last.since || elapsed >= n: // a counter of less than 1 GHz
		a.lost++
		return
	}
	a.rate, _ = bits.Div64(elapsed, 0, n)
	if last.rate == 0 {
		return
	}
	if differ := max(a.rate, last.rate) - min(a.rate, last.rate); differ > last.rate/agree {
		a.lost++
		return
	}
	a.lost = 0
	a.lasts = min(anchorFor, growth*(a.since-last.since))
	a.span, _ = bits.Div64(uint64(a.lasts), 0, a.rate)
}

// micros is the wall's time at an instant.
func (a *anchor) micros(i instant) weir.Micros {
	return a.wall + weir.Micros((i-a.since)/time.Microsecond)
}

// time is an instant as others know it.
func (a *anchor) time(i instant) time.Time { return a.at.Add(i - a.since) }
