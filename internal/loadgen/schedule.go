package loadgen

import "time"

// schedule says when requests are due: evenly, the first at once. The zero
// value is invalid.
type schedule struct {
	rate int64         // a second, 1 to 1e6
	span time.Duration // of the whole, at most a day
}

// at is when request i is due, from the start.
func (s schedule) at(i int64) time.Duration {
	return time.Duration(i/s.rate)*time.Second + time.Duration(i%s.rate*int64(time.Second)/s.rate)
}

// due is how many requests are due at an instant: those with at <= t.
func (s schedule) due(t time.Duration) int64 {
	if t < 0 {
		return 0
	}
	t = min(t, s.span)
	n := s.through(t)
	for s.at(n) <= t { // at rounds down
		n++
	}
	return min(n, s.total())
}

// total is how many are due in all: those before the end.
func (s schedule) total() int64 {
	n := s.through(s.span)
	for s.at(n) < s.span {
		n++
	}
	return n
}

// through is t x rate, rounded down.
func (s schedule) through(t time.Duration) int64 {
	return int64(t/time.Second)*s.rate + int64(t%time.Second)*s.rate/int64(time.Second)
}
