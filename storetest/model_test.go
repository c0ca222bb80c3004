package storetest

import (
	"testing"

	"github.com/weirlimit/weir"
)

func TestModel(t *testing.T) {
	Run(t, func(testing.TB) Harness { return NewModel().Harness() })
}

// TestModelThatDrops runs the suite on a store that lets go of every state at
// the instant it expires: the suite must not ask for it afterwards.
func TestModelThatDrops(t *testing.T) {
	Run(t, func(testing.TB) Harness {
		m := NewModel()
		m.decide = func(m *Model, e *weir.Entry, now weir.Micros) {
			m.dropExpiredLocked(now)
			m.decideLocked(e, now)
		}
		h := m.Harness()
		h.SetClock = func(now weir.Micros) {
			m.SetClock(now)
			m.mu.Lock()
			defer m.mu.Unlock()
			m.dropExpiredLocked(now)
		}
		return h
	})
}

// TestModelWithoutClock runs what is left of the suite for a store whose clock
// and states are its own affair.
func TestModelWithoutClock(t *testing.T) {
	ran := 0
	for _, c := range Cases() {
		r := try(t, c, func(testing.TB) Harness { return Harness{Store: NewModel()} })
		if r.Failed() {
			t.Errorf("%s: %s", c.Name, r.failures())
		}
		if !r.mu.skipped {
			ran++
		}
	}
	if ran < 20 {
		t.Errorf("only %d cases run without a clock", ran)
	}
}

// dropExpiredLocked forgets the states and answers that have expired by now.
func (m *Model) dropExpiredLocked(now weir.Micros) {
	for key, r := range m.mu.states {
		if r.state.Expiry(r.meter) <= now {
			delete(m.mu.states, key)
		}
	}
}
