package lease

import (
	"math"

	"github.com/weirlimit/weir"
)

// Constants of the sizer.
const (
	// memory is the time constant of the rate: after a change, 1/e of the old
	// rate is left of it after so long, and 1% after five times that.
	memory = weir.Second / 2
	// leastLook is the shortest stretch that a rate is taken from.
	leastLook = 5 * weir.Millisecond
	// growth is the part of the size aimed at by which a size grows.
	growth = 8
	// Times of rest after a grant of nothing: the refresh interval, doubled with
	// each in a row.
	maxDoublings = 5
)

// Sizer is how much of one key is taken at a time. The zero value is ready.
type Sizer struct {
	rate    float64     // units per second asked for here
	asked   int64       // units since
	since   weir.Micros // when rate was last looked at; 0 for never
	size    int64       // L; 0 before the first
	taken   weir.Micros // when the last grant was asked for
	empties uint8       // grants of nothing, in a row
	rest    weir.Micros // until when nothing is to be taken
}

// Ask counts units that a caller asked for, and got or not.
func (s *Sizer) Ask(units int64) { s.asked += units }

// Seed starts with a rate that is known from elsewhere.
func (s *Sizer) Seed(rate float64, now weir.Micros) {
	s.rate, s.since, s.asked = rate, now, 0
}

// Rate is the units a second that are asked for.
func (s *Sizer) Rate() float64 { return s.rate }

// Size is L: what was last aimed at.
func (s *Sizer) Size() int64 { return s.size }

// Resting tells whether nothing is to be taken, because nothing was there.
func (s *Sizer) Resting(now weir.Micros) bool { return now < s.rest }

// look brings the rate up to now.
func (s *Sizer) look(now weir.Micros) {
	if s.since == 0 {
		s.since = now
		return
	}
	span := now - s.since
	if span < leastLook {
		return
	}
	seen := float64(s.asked) * float64(weir.Second) / float64(span)
	// What this span weighs against all before it.
	w := float64(span) / float64(span+memory)
	s.rate += w * (seen - s.rate)
	s.since, s.asked = now, 0
}

// Terms bound a lease.
type Terms struct {
	Refresh weir.Micros // how long it should last
	Life    weir.Micros // how long it can; see Config.Life
	Left    weir.Micros // of a fixed window; 0 when that is not known or not so
	Most    int64       // how many units may be held; see Config.Most
	Held    int64       // of which so many are
	Least   int64       // fewer are of no use: the cost of a request
}

// Want is how many units to take now, or 0. A second call before Granted is as
// good as the first.
func (s *Sizer) Want(now weir.Micros, t Terms) int64 {
	s.look(now)
	if s.Resting(now) {
		return 0
	}
	// A lease that cannot live two intervals is to be used up in half its life:
	// rates are not steady, and what is left at its end is lost.
	span := min(t.Refresh, t.Life/2)
	target := max(1, min(t.Most, int64(s.rate*float64(span)/float64(weir.Second))))
	if span < t.Refresh {
		safe := s.safe(t)
		if safe < max(1, t.Least) {
			return 0
		}
		target = min(target, safe)
	}
	switch {
	case s.size == 0:
		s.size = target
	case s.size < target && now-s.taken < span: // used up before its time
		s.size = min(target, s.size+max(1, target/growth))
	default:
		s.size = min(s.size, target)
	}
	n := max(s.size, t.Least)
	if t.Left > 0 {
		n = min(n, int64(s.rate*float64(t.Left)/float64(weir.Second)))
	}
	if n = min(n, t.Most-t.Held); n < max(1, t.Least) {
		return 0
	}
	return n
}

// safe is how many units are as good as certain to be asked for within the life
// of a lease: what is expected less twice its standard deviation, for requests
// that come by chance. More would be lost too often: of one unit with two
// expected, every seventh.
func (s *Sizer) safe(t Terms) int64 {
	expected := s.rate * float64(t.Life) / float64(weir.Second)
	return int64(expected - 2*math.Sqrt(expected*float64(max(t.Least, 1))))
}

// Granted tells what became of a wish that was sent at an instant. Less than
// was wanted halves the size; nothing also makes for a rest.
func (s *Sizer) Granted(sent weir.Micros, wanted, got int64, t Terms) {
	s.taken = sent
	if got >= wanted {
		s.empties = 0
		return
	}
	s.size = max(1, s.size/2)
	if got > 0 {
		s.empties = 0
		return
	}
	s.Failed(sent, t)
}

// Failed makes for a rest after a wish that was sent at an instant and not
// answered, or answered with nothing.
func (s *Sizer) Failed(sent weir.Micros, t Terms) {
	s.rest = sent + t.Refresh<<min(s.empties, maxDoublings)
	if s.empties < maxDoublings {
		s.empties++
	}
}
