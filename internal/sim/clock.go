package sim

import (
	"math/rand/v2"

	"github.com/weirlimit/weir"
)

// clock is a machine's own: it is off by some, and runs fast or slow.
type clock struct {
	offset weir.Micros
	ppm    int64 // microseconds a second that it gains
}

// maxDrift is how many parts in a million a clock gains or loses. Two clocks then
// differ by less than the margin that leases have, which is 1000.
const maxDrift = 300

func (c clock) at(t weir.Micros) weir.Micros {
	return c.offset + t + t*weir.Micros(c.ppm)/1_000_000
}

// nodeClock starts at a second or more, as an engine's does.
func nodeClock(r *rand.Rand) clock {
	return clock{offset: weir.Second + weir.Micros(r.Int64N(int64(1000*weir.Second))), ppm: r.Int64N(2*maxDrift+1) - maxDrift}
}

// serverClock is one of the day's time, and a second off.
func serverClock(r *rand.Rand) clock {
	return clock{
		offset: 1_800_000_000*weir.Second + weir.Micros(r.Int64N(int64(2*weir.Second))),
		ppm:    r.Int64N(2*maxDrift+1) - maxDrift,
	}
}
