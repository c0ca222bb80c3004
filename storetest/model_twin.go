package storetest

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// stateLocked returns a copy of the state that a charge finds: of two names'
// that of the one to be read first, and the other's if that has none which
// counts.
func (m *Model) stateLocked(c *weir.Charge, now weir.Micros) algo.State {
	if c.Twinning == weir.TwinNone {
		return m.loadLocked(c.Key)
	}
	names := [...]string{c.Key, c.Twin}
	if c.Twinning == weir.TwinLast {
		names = [...]string{c.Twin, c.Key}
	}
	for _, name := range names {
		if s := m.loadLocked(name); s.Counts(c.Meter, now) {
			return s
		}
	}
	return algo.State{}
}

// keepLocked stores a state that a charge changed.
func (m *Model) keepLocked(c *weir.Charge, s algo.State) {
	m.storeLocked(c.Key, c.Meter, s)
	switch c.Twinning {
	case weir.TwinNext, weir.TwinOld:
		delete(m.mu.states, c.Twin)
	case weir.TwinLast:
		s.Runs = append([]algo.Run(nil), s.Runs...)
		m.storeLocked(c.Twin, c.Meter, s)
	}
}
