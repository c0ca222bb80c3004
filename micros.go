package weir

import (
	"math"
	"time"
)

// Micros is an instant or a span of time in microseconds. Instants count from
// the Unix epoch. Microseconds are the unit because they are what Redis TIME
// answers, and because instants stay below 2^53, exact in Lua's float64, until
// the year 2255.
type Micros int64

// Spans of time in Micros.
const (
	Microsecond Micros = 1
	Millisecond        = 1000 * Microsecond
	Second             = 1000 * Millisecond
	Minute             = 60 * Second
	Hour               = 60 * Minute
	Day                = 24 * Hour
	Week               = 7 * Day
	Month              = 30 * Day
	Year               = 365 * Day
)

// Never is the retry-after of a request that can never pass, whatever time it
// is sent at, because it costs more than its limit holds.
const Never Micros = math.MaxInt64

// MicrosOf converts a duration, rounding up: a wait that is rounded down ends
// too early.
func MicrosOf(d time.Duration) Micros {
	m := Micros(d / time.Microsecond)
	if d%time.Microsecond > 0 {
		m++
	}
	return m
}

// MicrosAt converts a wall clock instant.
func MicrosAt(t time.Time) Micros { return Micros(t.UnixMicro()) }

// Duration converts a span; Never becomes the longest duration there is.
func (m Micros) Duration() time.Duration {
	const most = Micros(math.MaxInt64 / int64(time.Microsecond))
	switch {
	case m > most:
		return math.MaxInt64
	case m < -most:
		return math.MinInt64
	}
	return time.Duration(m) * time.Microsecond
}

// Time converts an instant.
func (m Micros) Time() time.Time { return time.UnixMicro(int64(m)) }

// Seconds returns the span in whole seconds, rounded up, as HTTP fields want.
func (m Micros) Seconds() int64 {
	if m <= 0 {
		return 0
	}
	return int64((m-1)/Second) + 1
}
