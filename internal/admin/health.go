package admin

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// State is where a process is in its life.
type State uint8

// The states, in the order in which a process goes through them.
const (
	Starting State = iota
	Ready
	Draining
)

func (s State) String() string {
	switch s {
	case Starting:
		return "starting"
	case Ready:
		return "ready"
	case Draining:
		return "draining"
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// Health tells whether a process should be sent requests.
//
//	          every part started
//	starting -------------------> ready
//	    |                           |
//	    |           Drain           |
//	    +--------> draining <-------+      (for good)
//
// Beside its state it may be degraded: it answers, but not as it should. That
// does not make it unready. Whatever a store does happens to all instances at
// once, and if all of them left the gateway's list, the limiter would be the
// outage.
//
// The zero value has no parts and is ready. It is safe for concurrent use.
type Health struct {
	mu struct {
		sync.Mutex
		waiting  []string // parts that have not started, in order
		draining bool
		degraded map[string]string // why, by part
	}
	// watch is locked before mu, and held while watchers are told.
	watch struct {
		sync.Mutex
		funcs []func(State)
	}
}

// NewHealth returns a Health that is starting until each of the parts has
// Started.
func NewHealth(parts ...string) *Health {
	h := &Health{}
	h.mu.waiting = slices.Clone(parts)
	return h
}

// Started says that a part is there. It is for good: what fails later is
// degraded.
func (h *Health) Started(part string) {
	h.change(func() {
		h.mu.waiting = slices.DeleteFunc(h.mu.waiting, func(p string) bool { return p == part })
	})
}

// Drain says that the process is about to end: it finishes what it has, and
// wants nothing new.
func (h *Health) Drain() { h.change(func() { h.mu.draining = true }) }

// change runs f and tells the watchers when it changed the state. They are
// told one change at a time: a late word of ready must not follow draining.
func (h *Health) change(f func()) {
	h.watch.Lock()
	defer h.watch.Unlock()
	h.mu.Lock()
	before := h.stateLocked()
	f()
	after := h.stateLocked()
	h.mu.Unlock()
	if before == after {
		return
	}
	for _, tell := range h.watch.funcs {
		tell(after)
	}
}

// Watch calls f with the state, now and after each change; the last call is
// always with the state that is. f must not block and must not change h.
func (h *Health) Watch(f func(State)) {
	h.watch.Lock()
	defer h.watch.Unlock()
	h.watch.funcs = append(h.watch.funcs, f)
	f(h.State())
}

// Degrade says that a part does not work as it should, and why, for people.
func (h *Health) Degrade(part, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.degraded == nil {
		h.mu.degraded = make(map[string]string)
	}
	h.mu.degraded[part] = why
}

// Restore takes back what Degrade said.
func (h *Health) Restore(part string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.mu.degraded, part)
}

// State returns the state.
func (h *Health) State() State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stateLocked()
}

func (h *Health) stateLocked() State {
	switch {
	case h.mu.draining:
		return Draining
	case len(h.mu.waiting) > 0:
		return Starting
	}
	return Ready
}

// Status is what is said of a Health.
type Status struct {
	State    string   `json:"state"`
	Ready    bool     `json:"ready"`
	Degraded bool     `json:"degraded"`
	Reasons  []string `json:"reasons"` // why it is not ready, or degraded
}

// Status returns the state with its reasons.
func (h *Health) Status() Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	state := h.stateLocked()
	s := Status{State: state.String(), Ready: state == Ready, Degraded: len(h.mu.degraded) > 0, Reasons: []string{}}
	if state == Draining {
		s.Reasons = append(s.Reasons, "shutting down")
	}
	for _, part := range h.mu.waiting {
		s.Reasons = append(s.Reasons, "waiting for "+part)
	}
	for _, part := range slices.Sorted(maps.Keys(h.mu.degraded)) {
		s.Reasons = append(s.Reasons, part+": "+h.mu.degraded[part])
	}
	return s
}
