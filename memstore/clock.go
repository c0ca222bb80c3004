package memstore

import (
	"math"
	"time"

	"github.com/weirlimit/weir"
)

// clock tells the store's time. One reading is 40 ns, half of a check: a call
// takes one at most.
type clock struct {
	read  func() weir.Micros // nil for the system's
	start time.Time
	base  weir.Micros // the instant of start
}

func newClock(read func() weir.Micros) clock {
	c := clock{read: read, start: time.Now()}
	if read != nil {
		c.base = read()
	} else {
		c.base = weir.MicrosAt(c.start)
	}
	return c
}

func (c *clock) now() weir.Micros {
	if c.read != nil {
		return c.read()
	}
	return c.base + weir.Micros(time.Since(c.start)/time.Microsecond)
}

// nowBefore tells the time, and whether it is before deadline; the zero value is
// none. The system's clock is read once for both.
func (c *clock) nowBefore(deadline time.Time) (now weir.Micros, ok bool) {
	if c.read != nil {
		return c.read(), deadline.IsZero() || time.Now().Before(deadline)
	}
	return c.at(time.Since(c.start), deadline)
}

// at is nowBefore so long after the start.
func (c *clock) at(spent time.Duration, deadline time.Time) (now weir.Micros, ok bool) {
	return c.base + weir.Micros(spent/time.Microsecond), deadline.IsZero() || spent < deadline.Sub(c.start)
}

// tick is a coarse instant: units of 2^18 us, about a quarter of a second,
// since the store was made. 32 bits of them are 35 years.
type tick uint32

const (
	tickBits = 18
	// never is the due instant of what 32 bits cannot hold, and of an empty
	// page. No reading of the clock reaches it.
	never tick = math.MaxUint32
)

// tick rounds an instant down, so that nothing is due early.
func (c *clock) tick(now weir.Micros) tick {
	n := int64(now-c.base) >> tickBits
	return tick(min(max(n, 0), int64(never)-1))
}

// due rounds an instant up. It is 1 or more: at tick 0, which is also that of
// every instant before the store was made, nothing is due.
func (c *clock) due(at weir.Micros) tick {
	n := int64(at-c.base+1<<tickBits-1) >> tickBits
	return tick(min(max(n, 1), int64(never)))
}

// latest is the latest instant that due rounds to t.
func (c *clock) latest(t tick) weir.Micros { return c.base + weir.Micros(t)<<tickBits }
