package oracle

import (
	"slices"

	"github.com/weirlimit/weir"
)

// hold is what one owner has in progress.
type hold struct {
	owner string
	at    weir.Micros
	n     int64
}

// slots holds units in progress by owner, in the order in which they were last
// acquired.
type slots struct {
	limit weir.Limit
	holds []hold
	now   weir.Micros
}

func (s *slots) See(now weir.Micros) {
	s.now = now
	s.drop(func(h hold) bool { return h.at+s.limit.Window <= now })
}

func (s *slots) SetLimit(l weir.Limit) { s.limit = l }

func (s *slots) Clone() Counter {
	c := *s
	c.holds = slices.Clone(s.holds)
	return &c
}

func (s *slots) Used() int64 {
	sum := int64(0)
	for _, h := range s.holds {
		sum += h.n
	}
	return sum
}

func (s *slots) Since() weir.Micros {
	newest := weir.Micros(0)
	for _, h := range s.holds {
		newest = max(newest, h.at)
	}
	return newest
}

func (s *slots) Holds(owner string) bool {
	for _, h := range s.holds {
		if h.owner == owner {
			return true
		}
	}
	return false
}

// Take renews what owner holds, or gives it n units.
func (s *slots) Take(n int64, owner string) int64 {
	at := max(s.now, s.Since())
	if had := s.drop(func(h hold) bool { return h.owner == owner }); had > 0 {
		s.holds = append(s.holds, hold{owner, at, had})
		return 0
	}
	s.holds = append(s.holds, hold{owner, at, n})
	return n
}

// Give releases all that owner holds, however many units are named.
func (s *slots) Give(_ int64, owner string) int64 {
	return s.drop(func(h hold) bool { return h.owner == owner })
}

func (s *slots) FreeAt(n int64) weir.Micros {
	for _, h := range s.holds {
		n -= h.n
		if n <= 0 {
			return h.at + s.limit.Window
		}
	}
	panic("fewer units in use than asked for")
}

// drop removes holds and returns their units.
func (s *slots) drop(gone func(hold) bool) int64 {
	var kept []hold
	dropped := int64(0)
	for _, h := range s.holds {
		if gone(h) {
			dropped += h.n
		} else {
			kept = append(kept, h)
		}
	}
	s.holds = kept
	return dropped
}
