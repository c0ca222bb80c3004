package algo

import (
	"github.com/weirlimit/weir"
)

// State is what is stored for one key. Which fields count depends on the
// machine:
//
//	         Used          At                       Frac          Runs
//	Bucket   units in use  Used was whole then      + Frac/Den us  -
//	Window   units in use  an instant in the window -              -
//	Runs     their sum     -                        -              oldest first
//	Slots    their sum     -                        -              oldest first
//
// The zero State is an empty one, and an empty one is never stored.
type State struct {
	Used int64
	At   weir.Micros
	Frac int64
	Mark uint16 // of the meter it was written under
	Runs []Run
	// Dirty is set when the state is no longer what the store holds. Time
	// passing does not set it: an unwritten drain is computed again.
	Dirty bool
}

// Run is a number of units taken at one instant, or, up to a meter's RunCap,
// at that instant and later. Owner is set by the Slots machine only.
type Run struct {
	T     weir.Micros
	N     int64
	Owner Owner
}

// Usage returns what a caller may see of an advanced state.
func (s *State) usage() weir.Usage {
	u := weir.Usage{Used: s.Used, Since: s.At}
	if n := len(s.Runs); n > 0 {
		u.Since = s.Runs[n-1].T
	}
	if s.Used == 0 {
		u.Since = 0
	}
	return u
}

func (s *State) clear() {
	s.Used, s.At, s.Frac, s.Runs = 0, 0, 0, s.Runs[:0]
}

// advance brings s to now: it adopts a state written under another limit and
// lets go what has been freed since.
func (s *State) advance(m *weir.Meter, now weir.Micros) {
	if s.Used == 0 {
		s.Mark = m.Mark
		return
	}
	if s.Mark != m.Mark {
		s.adopt(m)
	}
	switch m.Machine {
	case weir.Bucket:
		drainBucket(m, s, now)
	case weir.Window:
		if now >= windowEnd(m, s) {
			s.clear()
		}
	default:
		s.dropRuns(now - m.Limit.Window)
	}
}

// adopt takes over a state written under another limit of the same machine.
// Units in use stay in use. A fraction of a microsecond that is counted in
// another denominator is rounded to the side that frees later.
func (s *State) adopt(m *weir.Meter) {
	if s.Mark>>14 != m.Mark>>14 {
		s.clear() // another machine's state says nothing here
	}
	if s.Frac > 0 {
		s.At, s.Frac = s.At+1, 0
	}
	s.Mark = m.Mark
	s.Dirty = s.Dirty || s.Used > 0
}

// room is how many units fit.
func (s *State) room(m *weir.Meter) int64 { return max(0, m.Capacity-s.Used) }

// take puts n units in use; the caller has checked that they fit, or wants
// them counted regardless. It returns how many were counted.
func (s *State) take(m *weir.Meter, now weir.Micros, n int64, owner Owner) int64 {
	if m.Machine == weir.Slots {
		return s.acquire(now, n, owner)
	}
	n = min(n, m.UsedCap-s.Used)
	if n <= 0 {
		return 0
	}
	switch m.Machine {
	case weir.Bucket, weir.Window:
		if s.Used == 0 {
			s.At, s.Frac = now, 0
		}
	default:
		s.addRuns(m, now, n)
	}
	s.Used += n
	s.Dirty = true
	return n
}

// give takes n units out of use, the latest first, and returns how many it was.
func (s *State) give(m *weir.Meter, n int64, owner Owner) int64 {
	if m.Machine == weir.Slots {
		return s.release(owner)
	}
	n = min(n, s.Used)
	if n <= 0 {
		return 0
	}
	if m.Machine == weir.Runs {
		s.popRuns(n)
	}
	s.Used -= n
	s.Dirty = true
	if s.Used == 0 {
		s.clear()
	}
	return n
}

// windowEnd is the end of the window of the clock that s.At is in. The state has
// the instant, not the end: under another window the units in use are in use
// until that one ends.
func windowEnd(m *weir.Meter, s *State) weir.Micros {
	return s.At - s.At%m.Limit.Window + m.Limit.Window
}

// freeAt is the instant from which n units fewer are in use (n <= Used).
func (s *State) freeAt(m *weir.Meter, n int64) weir.Micros {
	switch m.Machine {
	case weir.Bucket:
		return bucketAt(m, s, n)
	case weir.Window:
		return windowEnd(m, s)
	default:
		return s.runsFreeAt(n) + m.Limit.Window
	}
}

// Expiry is the instant from which s equals an empty state, so that dropping
// it changes no decision. It is 0 for an empty state.
func (s *State) Expiry(m *weir.Meter) weir.Micros {
	if s.Used == 0 {
		return 0
	}
	return s.freeAt(m, s.Used)
}
