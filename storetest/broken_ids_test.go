package storetest

import (
	"slices"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

func brokenIDs() []broken {
	return []broken{
		{"replays no ids", []string{"ids", "ids_concurrent", "history/ids", "vectors/ids"}, deciding((*Model).settleLocked)},
		{"replays no refunds", []string{"ids", "vectors/ids"}, deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
			if e.Charges[0].Mode == weir.Refund {
				m.settleLocked(e, now)
				return
			}
			m.decideLocked(e, now)
		})},
		{"replays whatever the cost", []string{"ids_scope", "vectors/ids"}, replayingBy(func(c *weir.Charge) { c.Cost = min(c.Cost, 1) })},
		{"replays whatever the cost's high bytes", []string{"ids_scope"}, replayingBy(func(c *weir.Charge) { c.Cost &= 255 })},
		{"replays whatever the mode", []string{"ids_scope", "ids"}, replayingBy(func(c *weir.Charge) { c.Mode = weir.Enforce })},
		{"replays whatever the key", []string{"ids_scope", "history/ids"}, replayingBy(func(c *weir.Charge) { c.Key = "k" })},
		{"replays denials", []string{"ids", "history/ids"}, deciding(replayDenials)},
		{"tells a replay what is left now", []string{"ids", "vectors/ids"}, deciding(replayWithFreshNumbers)},
		{"does not say that it replays", []string{"ids", "ids_concurrent"}, telling(func(e *weir.Entry) { e.Replayed = false })},
		{"forgets ids after a minute", []string{"ids_window", "vectors/ids"}, deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
			for owner, a := range m.mu.answers {
				if now-a.at > weir.Minute {
					delete(m.mu.answers, owner)
				}
			}
			m.decideLocked(e, now)
		})},
		{"never forgets ids", []string{"ids_window"}, deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
			for owner, a := range m.mu.answers {
				a.at = max(a.at, now-algo.ReplayWindow+1)
				m.mu.answers[owner] = a
			}
			m.decideLocked(e, now)
		})},
		{"remembers anew what it replays", []string{"ids_window"}, deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
			m.decideLocked(e, now)
			if owner, ok, _ := algo.ReplayOwner(e, nil); ok && e.Replayed {
				m.mu.answers[owner] = answer{at: now, outcomes: slices.Clone(e.Outcomes)}
			}
		})},
		{"looks an id up and records it apart", []string{"ids_concurrent"}, deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
			owner, ok, _ := algo.ReplayOwner(e, nil)
			if _, known := m.mu.answers[owner]; ok && !known {
				m.yieldLocked()
				m.settleLocked(e, now)
				m.mu.answers[owner] = answer{at: now, outcomes: slices.Clone(e.Outcomes)}
				return
			}
			m.decideLocked(e, now)
		})},
	}
}

// replayingBy is a Model that knows an entry again by less than all of it.
func replayingBy(blur func(c *weir.Charge)) func() Harness {
	return deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
		blurred := weir.Entry{ID: e.ID, Charges: slices.Clone(e.Charges)}
		for i := range blurred.Charges {
			blur(&blurred.Charges[i])
		}
		owner, ok, _ := algo.ReplayOwner(&blurred, nil)
		if first, known := m.mu.answers[owner]; ok && known && len(first.outcomes) == len(e.Charges) {
			e.Outcomes = append(e.Outcomes[:0], first.outcomes...)
			e.Admitted, e.Replayed, e.Now = true, true, first.at
			return
		}
		m.settleLocked(e, now)
		if ok && e.Admitted {
			m.mu.answers[owner] = answer{at: now, outcomes: slices.Clone(e.Outcomes)}
		}
	})
}

// replayDenials remembers every answer; that it was a denial is to be seen from
// its outcomes.
func replayDenials(m *Model, e *weir.Entry, now weir.Micros) {
	m.decideLocked(e, now)
	if owner, ok, _ := algo.ReplayOwner(e, nil); ok && !e.Admitted {
		m.mu.answers[owner] = answer{at: now, outcomes: slices.Clone(e.Outcomes)}
	}
	if e.Replayed && !e.Outcomes[0].OK {
		e.Admitted = false
	}
}

func replayWithFreshNumbers(m *Model, e *weir.Entry, now weir.Micros) {
	m.decideLocked(e, now)
	if !e.Replayed {
		return
	}
	for i, c := range e.Charges {
		o, _ := algo.Peek(c.Meter, m.loadLocked(c.Key), now, 0, nil)
		e.Outcomes[i].Remaining, e.Outcomes[i].ResetAfter = o.Remaining, o.ResetAfter
	}
}
