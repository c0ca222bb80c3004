package obs

import (
	"slices"
	"strings"

	"github.com/weirlimit/weir"
)

// live are the sets that are counted under their own version. It is immutable.
//
//	SetLoaded:   new -> current -> previous -> swept, its rest to other
type live struct {
	current, previous set
}

// set is what a serial number counts in. Two serials of one version share it.
type set struct {
	serial uint32
	counts *counts // nil for none
}

// find returns the counters of a set, or nil when it is too old or, between an
// engine's swap and SetLoaded, too new.
func (l *live) find(serial uint32) *counts {
	if serial == l.current.serial {
		return l.current.counts
	}
	if serial == l.previous.serial {
		return l.previous.counts
	}
	return nil
}

// all returns the distinct counters, the newest first.
func (l *live) all() []*counts {
	var all []*counts
	for _, s := range []set{l.current, l.previous} {
		if s.counts != nil && !slices.Contains(all, s.counts) {
			all = append(all, s.counts)
		}
	}
	return all
}

// SetLoaded says that decisions with this serial are made by this version,
// whose rules have these indexes. Call it at every swap; if the serial is known
// then, before the swap, so that no decision is counted as other in between.
// rules is not kept.
func (m *Metrics) SetLoaded(serial uint32, version string, rules []RuleInfo) {
	version = strings.Clone(text(version))
	named := cloneRules(rules[:min(len(rules), m.maxRules)])

	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.live.Load()
	next := &live{current: set{serial: serial, counts: m.countsLocked(version, named)}, previous: old.current}
	if serial == old.current.serial {
		next.previous = old.previous // told twice
	}
	if p := next.previous.counts; p != nil && p != next.current.counts && p.version == version {
		next.previous = set{} // other rules under one version: one name, one series
	}
	m.live.Store(next)
	m.config.version, m.config.serial = version, serial
	m.config.rules, m.config.unnamed = len(rules), len(rules)-len(named)
	m.retireLocked(old, next)
}

// countsLocked returns the counters for a version: those it has, if it is live.
func (m *Metrics) countsLocked(version string, rules []RuleInfo) *counts {
	if version == other {
		return nil
	}
	for _, c := range m.live.Load().all() {
		if c.holds(version, rules) {
			return c
		}
	}
	return newCounts(version, rules, m.stripes, m.now())
}

// retireLocked ends what is no longer live, and keeps what nobody has seen.
func (m *Metrics) retireLocked(old, next *live) {
	for _, c := range old.all() {
		if slices.Contains(next.all(), c) {
			continue
		}
		m.rest.take(c)
	}
}

func (c *counts) take(from *counts) {
	for slot, n := range from.decisions.sweep() {
		c.decisions.cells[slot].Add(n)
	}
	for slot, n := range from.degraded.sweep() {
		c.degraded.cells[slot].Add(n)
	}
}

// cloneRules copies also the texts: a slice of a file would keep all of it.
func cloneRules(rules []RuleInfo) []RuleInfo {
	out := make([]RuleInfo, len(rules))
	for i, r := range rules {
		out[i] = RuleInfo{Domain: strings.Clone(r.Domain), ID: strings.Clone(r.ID)}
	}
	return out
}

func (m *Metrics) countDegraded(d *weir.Decision, err error) {
	slot := codeSlot(weir.CodeOf(err))
	if c := m.live.Load().find(d.SetSerial); c != nil && c.degraded.add(rowOf(d.RuleIndex), slot, 0) {
		return
	}
	m.rest.degraded.add(rowOther, slot, 0)
}
