package storetest

import (
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

func brokenStates() []broken {
	return []broken{
		{"forgets the TTL", []string{"expiry"}, holding(func(time.Duration) time.Duration { return -1 })},
		{"sets a TTL that is a little short", []string{"expiry"}, holdingShort},
		{"keeps every key for a year", []string{"expiry"}, holding(func(in time.Duration) time.Duration { return in + weir.Year.Duration() })},
		{"keeps the TTL of the limit before", []string{"expiry"}, holdingByFirstLimit},
		{"keeps empty states", []string{"expiry"}, holdingEmpty},
		{"expires a second too early", []string{"history/runs", "vectors/sliding_window_runs"}, deciding(expireEarly)},
		{"expires by the clock of a fast server", []string{"vectors/sliding_window_exact"}, deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
			for key, r := range m.mu.states {
				if r.state.Expiry(r.meter)-now < 59*weir.Second {
					delete(m.mu.states, key)
				}
			}
			m.decideLocked(e, now)
		})},
		{"starts anew when a limit changes", []string{"vectors/limits", "history/limits", "order"}, deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
			for _, c := range e.Charges {
				if r, held := m.mu.states[c.Key]; held && r.meter.Mark != c.Meter.Mark {
					delete(m.mu.states, c.Key)
				}
			}
			m.decideLocked(e, now)
		})},
		{"keeps a state of another algorithm", []string{"vectors/algorithms", "history/everything"}, deciding(keepAcrossMachines)},
		{"frees what a clock that went back finds in its future", []string{"clock_back", "vectors/clock_back"}, deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
			for _, c := range e.Charges {
				s := m.loadLocked(c.Key)
				if o, _ := algo.Peek(c.Meter, s, now, 0, nil); o.Before.Since > now {
					delete(m.mu.states, c.Key)
				}
			}
			m.decideLocked(e, now)
		})},
		{"takes the time since, whichever way it went", []string{"clock_back", "history/bucket"}, deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
			for _, c := range e.Charges {
				if r, held := m.mu.states[c.Key]; held && c.Meter.Machine == weir.Bucket && r.state.At > now {
					r.state.At = now - (r.state.At - now)
					m.mu.states[c.Key] = r
				}
			}
			m.decideLocked(e, now)
		})},
		{"truncates the interval to microseconds", []string{"vectors/gcra_primes", "history/bucket"}, each(func(c *weir.Charge) {
			if c.Meter.Machine == weir.Bucket && c.Meter.Whole > 0 {
				m := *c.Meter
				m.Rem = 0
				c.Meter = &m
			}
		})},
		{"lets a fixed window last for two", []string{"vectors/fixed_window", "history/window"}, deciding(windowTooLong)},
		{"never reclaims concurrency", []string{"vectors/concurrency", "history/slots"}, each(func(c *weir.Charge) {
			if c.Meter.Machine == weir.Slots {
				m := *c.Meter
				m.Limit.Window = weir.Year
				c.Meter = &m
			}
		})},
		{"does not renew concurrency", []string{"vectors/concurrency", "history/slots"}, deciding(withoutRenewal)},
		{"lets anyone release", []string{"concurrency", "vectors/concurrency"}, asking(func(e *weir.Entry) {
			if e.Charges[0].Meter.Machine == weir.Slots {
				e.ID = "anyone"
			}
		})},
		{"decides with a clock in milliseconds", []string{"real_clock", "retry_exact"}, deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
			m.decideLocked(e, now-now%weir.Millisecond)
			e.Now = now
		})},
		{"decides with a clock that runs twice as fast", []string{"never_exceeds_rate", "real_clock"}, deciding(func(m *Model, e *weir.Entry, now weir.Micros) {
			m.decideLocked(e, now*2)
			e.Now = now
		})},
	}
}

// holding changes what the store says of its expiries.
func holding(edit func(time.Duration) time.Duration) func() Harness {
	return func() Harness {
		m := NewModel()
		h := m.Harness()
		h.Holds = func(key string) (time.Duration, bool) {
			in, held := m.Holds(key)
			return edit(in), held
		}
		return h
	}
}

// holdingShort lets go of states when a tenth of their time is left.
func holdingShort() Harness {
	m := NewModel()
	h := m.Harness()
	h.Holds = func(key string) (time.Duration, bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		r, held := m.mu.states[key]
		if !held {
			return 0, false
		}
		return ((r.state.Expiry(r.meter) - m.now()) * 9 / 10).Duration(), true
	}
	return h
}

// holdingByFirstLimit is a guarded TTL that forgot that limits change.
func holdingByFirstLimit() Harness {
	m := NewModel()
	first := make(map[string]*weir.Meter)
	m.decide = func(m *Model, e *weir.Entry, now weir.Micros) {
		m.decideLocked(e, now)
		for _, c := range e.Charges {
			if first[c.Key] == nil {
				first[c.Key] = c.Meter
			}
			if r, held := m.mu.states[c.Key]; held {
				r.meter = first[c.Key]
				m.mu.states[c.Key] = r
			}
		}
	}
	return m.Harness()
}

func holdingEmpty() Harness {
	m := NewModel()
	touched := make(map[string]bool)
	m.decide = func(m *Model, e *weir.Entry, now weir.Micros) {
		m.decideLocked(e, now)
		for _, c := range e.Charges {
			touched[c.Key] = true
		}
	}
	h := m.Harness()
	h.Holds = func(key string) (time.Duration, bool) {
		in, held := m.Holds(key)
		return max(in, time.Second), held || touched[key]
	}
	return h
}

func expireEarly(m *Model, e *weir.Entry, now weir.Micros) {
	for key, r := range m.mu.states {
		if r.state.Expiry(r.meter) <= now+weir.Second {
			delete(m.mu.states, key)
		}
	}
	m.decideLocked(e, now)
}

// keepAcrossMachines reads another machine's units as its own.
func keepAcrossMachines(m *Model, e *weir.Entry, now weir.Micros) {
	for _, c := range e.Charges {
		r, held := m.mu.states[c.Key]
		if held && r.meter.Machine != c.Meter.Machine && c.Meter.Machine == weir.Bucket {
			r.state = algo.State{Used: r.state.Used, At: now, Mark: c.Meter.Mark}
			r.meter = c.Meter
			m.mu.states[c.Key] = r
		}
	}
	m.decideLocked(e, now)
}

// windowTooLong dates a new window's first unit in the window after it.
func windowTooLong(m *Model, e *weir.Entry, now weir.Micros) {
	m.decideLocked(e, now)
	for i, c := range e.Charges {
		o := &e.Outcomes[i]
		r, held := m.mu.states[c.Key]
		if held && c.Meter.Machine == weir.Window && o.Before.Used == 0 && o.Granted > 0 && !e.Replayed {
			r.state.At = now + c.Meter.Limit.Window
			m.mu.states[c.Key] = r
		}
	}
}

// withoutRenewal leaves a unit its first date.
func withoutRenewal(m *Model, e *weir.Entry, now weir.Micros) {
	before := make([]record, len(e.Charges))
	for i, c := range e.Charges {
		before[i] = record{m.loadLocked(c.Key), c.Meter}
	}
	m.decideLocked(e, now)
	for i, c := range e.Charges {
		if c.Meter.Machine == weir.Slots && e.Admitted && e.Outcomes[i].Granted == 0 && before[i].state.Used > 0 {
			m.mu.states[c.Key] = before[i]
		}
	}
}
