package storetest

import (
	"slices"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

func brokenTwins() []broken {
	return []broken{
		{"ignores twins", []string{"twins", "twins_together", "twins_ids", "twins_concurrency", "rotation", "rotation_parallel", "rotation_across_slots", "history/twins", "vectors/twins"}, each(untwin)},
		{"starts anew under a new name", []string{"twins", "twins_together", "twins_concurrency", "rotation", "rotation_parallel"}, keepingTwins(
			func(m *Model, c *weir.Charge, now weir.Micros) algo.State { return m.loadLocked(c.Key) }, (*Model).keepLocked)},
		{"reads the younger name first", []string{"twins", "history/twins"}, keepingTwins(younger, (*Model).keepLocked)},
		{"reads the elder name first to the end", []string{"twins"}, keepingTwins(elderFirst, (*Model).keepLocked)},
		{"reads by the key first and writes both names", []string{"twins", "rotation"}, keepingTwins(keyFirst, keepBoth)},
		{"does not mirror", []string{"twins", "twins_together", "history/twins_limits"}, keepingTwins((*Model).stateLocked,
			func(m *Model, c *weir.Charge, s algo.State) {
				if m.keepLocked(c, s); c.Twinning == weir.TwinLast {
					delete(m.mu.states, c.Twin)
				}
			})},
		{"mirrors to the name to come", []string{"twins", "rotation"}, keepingTwins((*Model).stateLocked,
			func(m *Model, c *weir.Charge, s algo.State) {
				if m.keepLocked(c, s); c.Twinning == weir.TwinNext {
					m.storeLocked(c.Twin, c.Meter, s)
				}
			})},
		{"leaves the old name as it was", []string{"twins", "twins_ids", "twins_concurrency", "twins_expiry", "rotation", "rotation_parallel"}, keepingTwins((*Model).stateLocked,
			func(m *Model, c *weir.Charge, s algo.State) {
				if c.Twinning == weir.TwinOld {
					m.storeLocked(c.Key, c.Meter, s)
					return
				}
				m.keepLocked(c, s)
			})},
		{"moves a state that did not change", []string{"twins", "twins_together"}, deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
			m.decideLocked(e, now)
			for i := range e.Charges {
				if c := &e.Charges[i]; c.Twinning != weir.TwinNone {
					m.keepLocked(c, m.stateLocked(c, now))
				}
			}
		})},
		{"knows a request again by its key", []string{"twins_ids", "rotation", "history/twins"}, deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
			id := e.ID
			for i := range e.Charges {
				if e.Charges[i].Meter.Machine != weir.Slots {
					e.ID += e.Charges[i].Key // what the elder name leaves out
				}
			}
			if len(e.ID) > weir.MaxIDBytes {
				e.ID = e.ID[:weir.MaxIDBytes]
			}
			if id == "" {
				e.ID = ""
			}
			m.decideLocked(e, now)
			e.ID = id
		})},
		{"holds a twin for ever", []string{"twins_expiry"}, holdingTwins},
		{"undoes under one name only", []string{"rotation_across_slots"}, deciding(undoByKey)},
	}
}

func untwin(c *weir.Charge) { c.Twin, c.Twinning = "", weir.TwinNone }

// keepingTwins is a Model that finds and keeps the states of charges otherwise.
func keepingTwins(
	find func(*Model, *weir.Charge, weir.Micros) algo.State, keep func(*Model, *weir.Charge, algo.State),
) func() Harness {
	return deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
		owner, named, _ := algo.ReplayOwner(e, nil)
		if first, known := m.mu.answers[owner]; named && known && now-first.at < algo.ReplayWindow {
			m.decideLocked(e, now)
			return
		}
		states := make([]algo.State, len(e.Charges))
		for i := range e.Charges {
			states[i] = find(m, &e.Charges[i], now)
		}
		e.Outcomes = append(e.Outcomes[:0], make([]weir.Outcome, len(e.Charges))...)
		e.Admitted = algo.Settle(e.Charges, algo.OwnerOf(e.ID), states, now, e.Outcomes)
		e.Now = now
		for i := range e.Charges {
			if states[i].Dirty {
				keep(m, &e.Charges[i], states[i])
			}
		}
		if named && algo.Remembered(e.Admitted, e.Outcomes) {
			m.mu.answers[owner] = answer{at: now, outcomes: slices.Clone(e.Outcomes)}
		}
	})
}

func firstOf(m *Model, c *weir.Charge, now weir.Micros, names ...string) algo.State {
	for _, name := range names {
		if s := m.loadLocked(name); name != "" && s.Counts(c.Meter, now) {
			return s
		}
	}
	return algo.State{}
}

func younger(m *Model, c *weir.Charge, now weir.Micros) algo.State {
	if c.Twinning == weir.TwinNext {
		return firstOf(m, c, now, c.Twin, c.Key)
	}
	return keyFirst(m, c, now)
}

// elderFirst lets who never heard of the new name reset those who have.
func elderFirst(m *Model, c *weir.Charge, now weir.Micros) algo.State {
	return firstOf(m, c, now, c.Elder(), c.Key, c.Twin)
}

func keyFirst(m *Model, c *weir.Charge, now weir.Micros) algo.State {
	return firstOf(m, c, now, c.Key, c.Twin)
}

// keepBoth mirrors in both phases around the change, and moves nothing.
func keepBoth(m *Model, c *weir.Charge, s algo.State) {
	m.storeLocked(c.Key, c.Meter, s)
	if c.Twinning == weir.TwinNext || c.Twinning == weir.TwinLast {
		s.Runs = slices.Clone(s.Runs)
		m.storeLocked(c.Twin, c.Meter, s)
	}
}

// holdingTwins forgets the TTL of what it mirrors.
func holdingTwins() Harness {
	m := NewModel()
	twins := make(map[string]bool)
	m.decide = func(m *Model, e *weir.Entry, now weir.Micros) {
		m.decideLocked(e, now)
		for _, c := range e.Charges {
			if twins[c.Key] = false; c.Twinning == weir.TwinLast {
				twins[c.Twin] = true
			}
		}
	}
	h := m.Harness()
	h.Holds = func(key string) (time.Duration, bool) {
		in, held := m.Holds(key)
		if twins[key] {
			in = 0
		}
		return in, held
	}
	return h
}

// undoByKey charges the first counter before it knows about the others, and
// takes back what was in vain under the key alone.
func undoByKey(m *Model, e *weir.Entry, now weir.Micros) {
	if len(e.Charges) < 2 || e.Charges[0].Twinning == weir.TwinNone {
		m.decideLocked(e, now)
		return
	}
	m.decideLocked(e, now)
	if c := e.Charges[0]; !e.Admitted && e.Outcomes[0].OK {
		b := weir.Entry{Charges: []weir.Charge{c}}
		m.decideLocked(&b, now)
		untwin(&c)
		c.Mode = weir.Refund
		b.Charges[0] = c
		m.decideLocked(&b, now)
	}
}
