package line

import "github.com/weirlimit/weir"

// Options are the bounds of a Line.
type Options struct {
	Places  int // requests inside at once, 1 or more
	Waiting int // requests that wait at most; 0 for none
	// Target, Interval and Recovery are those of the Level.
	Target, Interval, Recovery weir.Micros
	// Settled is told of every waiter that got a place or was shed. It must not
	// call the line. nil is nobody.
	Settled func(*Waiter)
}

// Line is a service's places and who waits for them. Make one with New.
type Line struct {
	Options
	level   Level
	now     weir.Micros
	inside  int
	waiting int
	queues  [Classes]queue
	room    [Classes]int // how long the line may be for one more of a class
}

// New returns an empty line.
func New(o Options) *Line {
	l := &Line{Options: o, level: Level{Target: o.Target, Interval: o.Interval, Recovery: o.Recovery}}
	for c := range l.room {
		l.room[c] = (o.Waiting*(c+1) + Classes - 1) / Classes
	}
	return l
}

// Arrive answers a request of a class. One that is to wait has a waiter, which
// says what becomes of it.
func (l *Line) Arrive(now weir.Micros, class int) (Answer, *Waiter) {
	level := l.Observe(now)
	switch {
	case class < level:
		return ShedLevel, nil
	case l.inside < l.Places:
		l.inside++
		return Inside, nil
	case l.waiting >= l.room[class] && !l.displace(class):
		return ShedFull, nil
	}
	w := &Waiter{Class: class, Since: l.now}
	l.queues[class].push(w)
	l.waiting++
	return Waits, w
}

// displace makes room for one of a class by shedding the youngest of the lowest
// class that waits, if that is lower.
func (l *Line) displace(class int) bool {
	for c := range class {
		if w := l.queues[c].last; w != nil {
			l.take(w)
			l.settle(w, ShedFull)
			return true
		}
	}
	return false
}

// Leave gives a place back, to the one who waits next if there is any.
func (l *Line) Leave(now weir.Micros) {
	l.Observe(now)
	for c := Classes - 1; c >= 0; c-- {
		if w := l.queues[c].first; w != nil {
			l.take(w)
			l.settle(w, Inside)
			l.Observe(now)
			return
		}
	}
	l.inside--
}

// GiveUp takes a waiter out of the line. It returns false for one that was
// settled already.
func (l *Line) GiveUp(now weir.Micros, w *Waiter) bool {
	if w.Answer != Waits {
		return false
	}
	l.take(w)
	w.Answer = Gone
	l.Observe(now)
	return true
}

// Observe looks at how long the oldest has waited, sheds those who wait below
// the level that follows, and returns the level.
func (l *Line) Observe(now weir.Micros) int {
	l.now = max(l.now, now)
	level := l.level.Observe(l.now, l.delay())
	for c := range level {
		for w := l.queues[c].first; w != nil; w = l.queues[c].first {
			l.take(w)
			l.settle(w, ShedLevel)
		}
	}
	return level
}

// delay is how long the oldest has waited.
func (l *Line) delay() weir.Micros {
	longest := weir.Micros(0)
	for c := range l.queues {
		if w := l.queues[c].first; w != nil {
			longest = max(longest, l.now-w.Since)
		}
	}
	return longest
}

func (l *Line) take(w *Waiter) {
	l.queues[w.Class].remove(w)
	l.waiting--
}

func (l *Line) settle(w *Waiter, a Answer) {
	w.Answer, w.Until = a, l.now
	if l.Settled != nil {
		l.Settled(w)
	}
}

// Inside returns how many have a place.
func (l *Line) Inside() int { return l.inside }

// SetInside says how many have a place, for whoever counts them elsewhere while
// the line is calm.
func (l *Line) SetInside(n int) { l.inside = n }

// Waiting returns how many wait.
func (l *Line) Waiting() int { return l.waiting }

// Level returns the level last observed.
func (l *Line) Level() int { return l.level.Level() }

// Calm tells whether all there is to know is how many are inside: nobody waits,
// nothing is shed, and nothing is about to be.
func (l *Line) Calm() bool { return l.waiting == 0 && l.level.Calm() }
