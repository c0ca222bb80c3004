package engine

import (
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
)

// clock tells the time of a decision with one reading of the machine's clock,
// where time.Now takes two: one of the wall, and one that cannot be set back. A
// reading is a tenth of a decision that no network is asked for.
//
// The wall's time is that of the last anchor and what has passed since. A clock
// that is set is so noticed within a second.
type clock struct {
	start  time.Time // what instants are counted from; immutable
	anchor atomic.Pointer[anchor]
}

// anchor is an instant by both clocks. It is immutable.
type anchor struct {
	at    time.Time
	wall  weir.Micros
	since instant // of at
}

// instant is a time since the clock's start, of which it is a second or more: 0
// is none.
type instant = time.Duration

// anchorFor is how long an anchor is used.
const anchorFor = time.Second

func newClock() *clock {
	c := &clock{start: time.Now().Add(-time.Second)}
	c.drop(c.now())
	return c
}

// now reads the clock.
func (c *clock) now() instant { return time.Since(c.start) }

// at returns the anchor to be used at an instant.
func (c *clock) at(i instant) *anchor {
	if a := c.anchor.Load(); i-a.since < anchorFor {
		return a
	}
	return c.drop(i)
}

// drop makes another anchor. Of several who do so at once any will do.
func (c *clock) drop(i instant) *anchor {
	now := time.Now()
	a := &anchor{at: now, wall: weir.MicrosAt(now), since: now.Sub(c.start)}
	c.anchor.Store(a)
	return a
}

// micros is the wall's time at an instant.
func (a *anchor) micros(i instant) weir.Micros {
	return a.wall + weir.Micros((i-a.since)/time.Microsecond)
}

// time is an instant as others know it.
func (a *anchor) time(i instant) time.Time { return a.at.Add(i - a.since) }
