package share

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// State is what is known of one key. The zero State knows nothing, and has its
// whole share. It is 40 bytes and holds no pointer.
type State struct {
	warm, own level
	mark      uint16 // of the share that the levels were written under
	heard     bool   // warm is what the store said: units of the whole limit
}

// level is units in use that drain: algo.State's bucket in half the memory.
type level struct {
	at         weir.Micros
	used, frac int32
}

// News is what the store said of a key.
type News struct {
	at   weir.Micros
	used int32 // units of the whole limit
}

// NewsOf says that so much was left of a limit.
func NewsOf(m *weir.Meter, remaining int64, now weir.Micros) News {
	return News{at: now, used: int32(m.Capacity - min(max(remaining, 0), m.Capacity))}
}

// Before tells whether n was overtaken by other news.
func (n News) Before(other News) bool { return n.at < other.at }

// Learn takes note of news. It is called for every answer: what that means for the
// share is worked out when it is needed.
func (s *State) Learn(n News) {
	if n.at < s.warm.at {
		return // overtaken
	}
	s.warm = level{at: n.at, used: n.used}
	s.heard = true
}

// Crowd makes s, of which nothing is known, begin with one unit and not with its
// whole share. It is for keys that may have been forgotten: without it, who uses
// more keys than are remembered would begin each of them anew for ever.
func (s *State) Crowd(m *weir.Meter, now weir.Micros) {
	*s = State{own: level{at: now, used: int32(m.Capacity - 1)}, mark: m.Mark}
}

// open returns what is in use under the share m, of parts, of the limit whole: the
// level that lets a request through later.
func (s *State) open(whole, m *weir.Meter, parts int) algo.State {
	if s.heard {
		left := max(0, whole.Capacity-int64(s.warm.used))
		s.warm.used = int32(max(0, m.Capacity-left/int64(parts)))
		s.warm.frac, s.heard = 0, false
	}
	if s.mark != m.Mark {
		s.warm.adopt()
		s.own.adopt()
		s.mark = m.Mark
	}
	warm, own := s.warm.state(m), s.own.state(m)
	if later(m, &own, &warm) {
		return own
	}
	return warm
}

// close keeps what is in use now. It is the instance's own from here on: both
// levels would drain alike, so the lower could never again be the one that counts.
func (s *State) close(used *algo.State) {
	s.own, s.warm = pack(used), level{}
}

// adopt rounds a fraction that is counted in another denominator up.
func (l *level) adopt() {
	if l.frac > 0 {
		l.at, l.frac = l.at+1, 0
	}
}

func (l *level) state(m *weir.Meter) algo.State {
	return algo.State{Used: min(int64(l.used), m.UsedCap), At: l.at, Frac: int64(l.frac), Mark: m.Mark}
}

func pack(s *algo.State) level {
	return level{at: s.At, used: int32(s.Used), frac: int32(s.Frac)}
}

// later tells whether a is empty later than b: whatever fits into a then fits
// into b.
func later(m *weir.Meter, a, b *algo.State) bool {
	atA, partA := empty(m, a)
	atB, partB := empty(m, b)
	return atA > atB || atA == atB && partA > partB
}

// empty is the instant at which nothing is in use any more, in microseconds and
// parts of one.
func empty(m *weir.Meter, s *algo.State) (weir.Micros, int64) {
	if s.Used == 0 {
		return 0, 0
	}
	part := s.Used*m.Rem + s.Frac
	return s.At + weir.Micros(s.Used*m.Whole+part/m.Den), part % m.Den
}
