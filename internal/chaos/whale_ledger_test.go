package chaos

import (
	"sync"
	"time"
)

// ledger has what a tenant was given, by when it asked and when it was answered.
// A unit is given between the two, so that of those asked for after one instant
// and answered before another all were given in between, whatever the clients'
// own delays.
type ledger struct {
	began time.Time
	mu    struct {
		sync.Mutex
		given []given
		asked int
	}
}

// given is a unit, in steps of the ledger.
type given struct{ asked, answered int }

// ledgerStep is how fine instants are told apart: asked is rounded down and
// answered up, which takes units out of stretches and puts none in.
const ledgerStep = 20 * time.Millisecond

// note takes down an answer that has just come.
func (l *ledger) note(took time.Duration, allowed bool) {
	at := time.Since(l.began)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.asked++
	if allowed {
		l.mu.given = append(l.mu.given, given{max(int((at-took)/ledgerStep), 0), int(at/ledgerStep) + 1})
	}
}

// count is how many were asked for, and given.
func (l *ledger) count() (asked, given int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.asked, len(l.mu.given)
}

// beyond is the most that was given in any stretch of time beyond a rate a
// second, and where: what a bucket would have had to hold.
func (l *ledger) beyond(rate float64) (most float64, from, to time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	steps := 0
	for _, g := range l.mu.given {
		steps = max(steps, g.answered)
	}
	byAsked := make([][]int, steps+1) // when those were answered
	for _, g := range l.mu.given {
		byAsked[g.asked] = append(byAsked[g.asked], g.answered)
	}
	answered := make([]int, steps+1) // of those asked for since first
	for first := steps; first >= 0; first-- {
		for _, at := range byAsked[first] {
			answered[at]++
		}
		n := 0
		for last := first + 1; last <= steps; last++ {
			n += answered[last]
			span := time.Duration(last-first) * ledgerStep
			if b := float64(n) - rate*span.Seconds(); b > most {
				most, from, to = b, time.Duration(first)*ledgerStep, time.Duration(last)*ledgerStep
			}
		}
	}
	return most, from, to
}
