package memstore

import (
	"math"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

func TestTicksRoundSoThatNothingIsDueEarly(t *testing.T) {
	const base = 1_700_000_000 * weir.Second
	c := clock{base: base}
	for _, at := range []weir.Micros{
		base - weir.Year, base - 1, base, base + 1, base + 1<<tickBits - 1, base + 1<<tickBits, base + 1<<tickBits + 1,
		base + weir.Day, base + 2*weir.Year, base + 35*weir.Year, base + 100*weir.Year, math.MaxInt64/2 + 1,
	} {
		due := c.due(at)
		if due < 1 {
			t.Errorf("%d is due at tick %d", at-base, due)
		}
		for _, now := range []weir.Micros{math.MinInt64 / 2, base - 1, base, at - 1, at} {
			if now < at && c.tick(now) >= due {
				t.Errorf("what expires at %d is due at %d", at-base, now-base)
			}
		}
		if late := at + 1<<tickBits; at >= base && at < base+35*weir.Year && c.tick(late) < due {
			t.Errorf("what expires at %d is not due a tick later", at-base)
		}
		if due != never && c.latest(due) < at {
			t.Errorf("tick %d of %d is the instant %d before it", due, at-base, at-c.latest(due))
		}
	}
	if c.tick(math.MaxInt64/2) >= never {
		t.Error("an instant reaches never")
	}
}

func TestClockIsTheWallClockWhenMadeAndNeverGoesBack(t *testing.T) {
	before := weir.MicrosAt(time.Now())
	c := newClock(nil)
	last := c.now()
	if last < before || last > weir.MicrosAt(time.Now())+weir.Second {
		t.Errorf("the clock says %d, the wall %d", last, before)
	}
	for range 1000 {
		now := c.now()
		if now < last {
			t.Fatalf("%d comes after %d", now, last)
		}
		last = now
	}
}
