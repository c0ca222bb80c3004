package storetest

import (
	"runtime"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// Faults that show only when calls overlap: the lock is let go where a store
// that reads and writes in two commands would let others in.
func brokenRaces() []broken {
	return []broken{
		{"loses updates", []string{"never_exceeds", "linearizable"}, deciding(loseUpdates)},
		{"checks and charges in two steps", []string{"never_exceeds", "linearizable"}, deciding(checkThenCharge)},
		{"charges keys one after the other", []string{"all_or_nothing"}, deciding(chargeOneByOne)},
		{"lets readers see half an entry", []string{"linearizable"}, deciding(showHalf)},
	}
}

// yieldLocked lets other goroutines take the lock in between. Once would do
// most of the time; ten times leaves no run of a case without an overlap.
func (m *Model) yieldLocked() {
	m.mu.Unlock()
	for range 10 {
		runtime.Gosched()
	}
	m.mu.Lock()
}

// loseUpdates writes a state computed from what was there before others came.
func loseUpdates(m *Model, e *weir.Entry, now weir.Micros) {
	states := make([]algo.State, len(e.Charges))
	for i, c := range e.Charges {
		states[i] = m.loadLocked(c.Key)
	}
	m.yieldLocked()
	e.Outcomes = append(e.Outcomes[:0], make([]weir.Outcome, len(e.Charges))...)
	e.Admitted = algo.Settle(e.Charges, algo.OwnerOf(e.ID), states, now, e.Outcomes)
	e.Now = now
	for i, c := range e.Charges {
		if states[i].Dirty {
			m.storeLocked(c.Key, c.Meter, states[i])
		}
	}
}

// checkThenCharge decides, lets others in, and then charges without looking.
func checkThenCharge(m *Model, e *weir.Entry, now weir.Micros) {
	states := make([]algo.State, len(e.Charges))
	for i, c := range e.Charges {
		states[i] = m.loadLocked(c.Key)
	}
	e.Outcomes = append(e.Outcomes[:0], make([]weir.Outcome, len(e.Charges))...)
	e.Admitted = algo.Settle(e.Charges, algo.OwnerOf(e.ID), states, now, e.Outcomes)
	e.Now = now
	m.yieldLocked()
	for i, c := range e.Charges {
		if e.Outcomes[i].Granted == 0 {
			continue
		}
		if c.Mode == weir.Enforce && c.Meter.Machine != weir.Slots {
			c.Mode = weir.Always
		}
		m.settleLocked(&weir.Entry{ID: e.ID, Charges: []weir.Charge{c}}, now)
	}
}

// chargeOneByOne stops at the first key that denies, and leaves those before.
func chargeOneByOne(m *Model, e *weir.Entry, now weir.Micros) {
	all := *e
	all.Outcomes, all.Admitted, all.Now = all.Outcomes[:0], true, now
	for i := range e.Charges {
		one := weir.Entry{ID: e.ID, Charges: e.Charges[i : i+1]}
		m.settleLocked(&one, now)
		if all.Admitted = all.Admitted && one.Admitted; !all.Admitted {
			one.Outcomes[0].Granted = 0
		}
		all.Outcomes = append(all.Outcomes, one.Outcomes...)
		m.yieldLocked()
	}
	for i := range all.Outcomes {
		if !all.Admitted {
			all.Outcomes[i].Granted = 0
		}
	}
	*e = all
}

// showHalf charges the second key of an admitted entry a moment after the first.
func showHalf(m *Model, e *weir.Entry, now weir.Micros) {
	m.decideLocked(e, now)
	if len(e.Charges) == 1 || !e.Admitted || e.Charges[1].Mode != weir.Enforce {
		return
	}
	c := e.Charges[1]
	c.Mode = weir.Refund
	m.settleLocked(&weir.Entry{Charges: []weir.Charge{c}}, now)
	m.yieldLocked()
	c.Mode = weir.Always
	m.settleLocked(&weir.Entry{Charges: []weir.Charge{c}}, now)
}
