package procs

import "time"

// idlers is how many of the machine's processors were idle, from one look to the
// next, at least half a window later.
type idlers struct {
	ask   func() (ticks int64, ok bool)
	count float64 // many where it is not known, as after the first look

	at   time.Time
	rest int64
}

// look looks, unless it just did.
func (i *idlers) look(now time.Time) {
	elapsed := now.Sub(i.at)
	if elapsed < window/2 {
		return
	}
	rest, ok := i.ask()
	if i.count = many; ok && elapsed < 2*window {
		i.count = float64(rest-i.rest) * float64(tick) / float64(elapsed)
	}
	i.at, i.rest = now, rest
}

const (
	many = 1 << 20
	tick = 10 * time.Millisecond // of Linux, whatever its own clock ticks by
)
