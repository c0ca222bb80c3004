package lease

import "github.com/weirlimit/weir"

// Two clocks that should be equally fast are not: of a span on one, this much
// is not trusted on the other. Crystals differ by less than 0.01%, clocks that
// are being set right by up to 0.05%; the millisecond is for what happens
// between looking at the clock and acting.
const (
	marginLeast = weir.Millisecond
	marginPart  = 1000
)

// less returns a span without the part that is not trusted.
func less(span weir.Micros) weir.Micros {
	return max(0, span-marginLeast-span/marginPart)
}

// Life is how long a lease of a limit lives at most. A unit of a sliding window
// must not be spent in another sub-window than the one it was charged in.
func (c Config) Life(m *weir.Meter) weir.Micros {
	span := min(refreshes*c.Refresh, maxLife)
	if m.Machine == weir.Runs {
		span = min(span, m.Limit.Window/weir.RunsPerWindow)
	}
	return less(span)
}

// Until is the end of a lease: from that instant nothing of it may be spent. sent
// is when it was asked for, which is before the store charged for it, by the
// clock on which it will be spent; o is what the store answered. A fixed window's
// units are not spent past its end.
func (c Config) Until(sent weir.Micros, m *weir.Meter, o *weir.Outcome) weir.Micros {
	life := c.Life(m)
	if m.Machine == weir.Window {
		life = min(life, less(o.ResetAfter))
	}
	return sent + life
}
