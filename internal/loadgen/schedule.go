package loadgen

import "time"

// Schedule says when requests are due: evenly, the first at once. The zero
// value is invalid.
type Schedule struct {
	Rate int64         // a second, 1 to 1e6
	Span time.Duration // of the whole, at most a day
}

// At is when request i is due, from the start.
func (s Schedule) At(i int64) time.Duration {
	return time.Duration(i/s.Rate)*time.Second + time.Duration(i%s.Rate*int64(time.Second)/s.Rate)
}

// Due is how many requests are due at an instant: those with At <= t.
func (s Schedule) Due(t time.Duration) int64 {
	if t < 0 {
		return 0
	}
	t = min(t, s.Span)
	n := s.through(t)
	for s.At(n) <= t { // At rounds down
		n++
	}
	return min(n, s.Total())
}

// Total is how many are due in all: those before the end.
func (s Schedule) Total() int64 {
	n := s.through(s.Span)
	for s.At(n) < s.Span {
		n++
	}
	return n
}

// through is t x rate, rounded down.
func (s Schedule) through(t time.Duration) int64 {
	return int64(t/time.Second)*s.Rate + int64(t%time.Second)*s.Rate/int64(time.Second)
}
