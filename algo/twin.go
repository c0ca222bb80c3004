package algo

import "github.com/weirlimit/weir"

// Counts tells whether a state still counts at now under m, which may not be
// the limit it was written under. Of a counter with two names the first one
// whose state counts is the counter's; see weir.Twinning. It changes nothing.
func (s *State) Counts(m *weir.Meter, now weir.Micros) bool {
	if s.Used == 0 || s.Mark>>14 != m.Mark>>14 {
		return false
	}
	if s.Mark != m.Mark && s.Frac > 0 { // as adopt rounds it
		adopted := State{Used: s.Used, At: s.At + 1}
		return adopted.Expiry(m) > now
	}
	return s.Expiry(m) > now
}

// CopyFrom makes s an equal of other that shares no memory with it.
func (s *State) CopyFrom(other *State) {
	runs := append(s.Runs[:0], other.Runs...)
	*s = *other
	s.Runs = runs
}
