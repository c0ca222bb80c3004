package line

import "github.com/weirlimit/weir"

// Classes is how many classes of requests there are; the last is the highest.
const Classes = 4

// MaxLevel leaves the highest class alone.
const MaxLevel = Classes - 1

// Level is how far a service is from keeping up: classes below it are shed. It
// looks at how long the oldest has waited, as CoDel does: a burst makes a line
// long for a moment, a load that is too high keeps it standing.
//
//	  above Target for Interval: one up, and again after each
//	+-----------+-----------+-----------+
//	|           v           v           v
//	0           1           2           3
//	^           |           |           |
//	+-----------+-----------+-----------+
//	  at most Target/2 for Recovery: one down, and again after each
//
// Between Target/2 and Target it stays where it is: what was just enough to get
// the delay down is not given up at once.
type Level struct {
	Target, Interval, Recovery weir.Micros

	level int
	above mark // since when the delay is above Target
	below mark // since when it is at most half of it
}

// mark is an instant, or none.
type mark struct {
	at  weir.Micros
	set bool
}

func (m *mark) start(now weir.Micros) {
	if !m.set {
		m.at, m.set = now, true
	}
}

// Observe notes that the oldest has waited for delay, and returns the level.
func (l *Level) Observe(now, delay weir.Micros) int {
	switch {
	case delay > l.Target:
		l.below.set = false
		l.above.start(now)
		if now-l.above.at >= l.Interval {
			l.level, l.above.at = min(l.level+1, MaxLevel), now
		}
	case delay > l.Target/2:
		l.above.set, l.below.set = false, false
	default:
		l.above.set = false
		l.below.start(now)
		steps := (now - l.below.at) / max(1, l.Recovery)
		l.level = int(max(0, weir.Micros(l.level)-steps))
		l.below.at += steps * l.Recovery
	}
	return l.level
}

// Level returns the level last observed.
func (l *Level) Level() int { return l.level }

// Calm tells whether there is nothing to remember: the level is 0, and not about
// to rise.
func (l *Level) Calm() bool { return l.level == 0 && !l.above.set }
