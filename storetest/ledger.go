package storetest

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// ledger knows which states a store may have dropped, because they had expired,
// while Model still holds them. Dropping changes no decision as long as time
// goes forward and limits stay; a clock that returns to before the expiry, or a
// limit under which the state would not have expired, brings to light which
// stores had dropped it. Those steps have no right answer.
type ledger struct {
	model  *Model
	keys   map[string]*tenure
	latest weir.Micros // the latest instant the clock has shown
}

// tenure is how sure it is that a store still holds a key's state.
type tenure struct {
	due  weir.Micros // the earliest expiry under any limit used since it changed
	gone bool        // that instant has been seen
}

// tick tells that the clock shows now.
func (l *ledger) tick(now weir.Micros) {
	l.latest = max(l.latest, now)
	for _, t := range l.keys {
		t.gone = t.gone || now >= t.due
	}
}

// specified tells whether e has one right answer.
func (l *ledger) specified(e *weir.Entry, now weir.Micros) bool {
	for i := range e.Charges {
		c := &e.Charges[i]
		if !l.settled(c.Key, c.Meter, now) || c.Twin != "" && !l.settled(c.Twin, c.Meter, now) {
			return false
		}
	}
	owner, named, _ := algo.ReplayOwner(e, nil)
	if !named {
		return true
	}
	// An id is kept for a window; it may linger longer.
	first, known := l.model.mu.answers[owner]
	return !known || now >= first.at && l.latest-first.at < algo.ReplayWindow
}

// settled tells whether key under m reads the same with its state and without,
// if it may be without.
func (l *ledger) settled(key string, m *weir.Meter, now weir.Micros) bool {
	t := l.keys[key]
	return t == nil || !t.gone || l.expiry(key, m) <= now
}

// note records what a decided entry means for its keys.
func (l *ledger) note(e *weir.Entry, now weir.Micros) {
	if e.Replayed {
		return
	}
	for i := range e.Charges {
		c := &e.Charges[i]
		l.noteKey(c.Key, c.Meter, changed(e, i), now)
		if c.Twin != "" {
			l.noteKey(c.Twin, c.Meter, changed(e, i), now)
		}
	}
}

func (l *ledger) noteKey(key string, m *weir.Meter, changed bool, now weir.Micros) {
	due := l.expiry(key, m)
	t := l.keys[key]
	if t == nil || changed {
		t = &tenure{due: due}
		l.keys[key] = t
	}
	t.due = min(t.due, due)
	t.gone = t.gone || now >= t.due
}

// changed tells whether the charge wrote its key. A renewed concurrency unit
// is granted nothing and yet is written.
func changed(e *weir.Entry, i int) bool {
	if i >= len(e.Outcomes) || e.Outcomes[i].Granted != 0 {
		return true
	}
	c := &e.Charges[i]
	renewing := c.Mode == weir.Enforce || c.Mode == weir.Shadow
	return c.Meter.Machine == weir.Slots && renewing && e.Admitted && e.Outcomes[i].OK && c.Cost > 0
}

// expiry is when key's state counts for nothing under m: long ago if there is
// none, or if it is another machine's.
func (l *ledger) expiry(key string, m *weir.Meter) weir.Micros {
	r, held := l.model.mu.states[key]
	if !held || r.meter.Machine != m.Machine {
		return 0
	}
	s := r.state
	if s.Mark != m.Mark && s.Frac > 0 {
		s.At, s.Frac = s.At+1, 0 // as a state is taken over from another limit
	}
	return s.Expiry(m)
}
