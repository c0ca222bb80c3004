package httplimit

import (
	"sync"
	"time"
)

// Bounds on what a Transport remembers.
const (
	maxHosts  = 1024
	maxLimits = 16 // of a host
)

// calm is the share of a quota below which what is left of it is spread: above,
// a burst is what the quota is for.
const calm = 4 // a quarter

// fewLeft is where spreading begins when the quota is not known.
const fewLeft = 10

// pacer holds back requests to those who said that little is left. It is told
// the time.
//
//	told: 10 of 100 left for 20 s -> requests go 2 s apart, until told otherwise
//	told: none left for 20 s      -> requests wait for 20 s
//	20 s later                    -> forgotten
type pacer struct {
	mu struct {
		sync.Mutex
		hosts map[string]*host
	}
}

// host is whom the limits are of, and what is under way to it.
type host struct {
	underWay int64
	limits   []paced
}

// paced is what is left of one limit.
type paced struct {
	name      string
	quota     int64
	remaining int64
	reset     time.Time
	next      time.Time // when the next request may go
}

// begin counts a request to a host of which something is known, and returns how
// long it should wait so that what is left of every limit lasts. end must follow.
func (p *pacer) begin(key string, now time.Time) (wait time.Duration, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.mu.hosts[key]
	if h == nil {
		return 0, false
	}
	h.underWay++
	for i := range h.limits {
		wait = max(wait, h.limits[i].reserve(now))
	}
	return wait, true
}

// reserve takes one unit, and returns how long to wait for it.
func (l *paced) reserve(now time.Time) time.Duration {
	left := l.reset.Sub(now)
	if left <= 0 {
		return 0
	}
	if l.remaining <= 0 {
		return left
	}
	tight := l.remaining <= fewLeft
	if l.quota > 0 {
		tight = l.remaining <= l.quota/calm
	}
	l.remaining--
	if !tight {
		return 0
	}
	at := now
	if l.next.After(at) {
		at = l.next
	}
	l.next = at.Add(max(0, l.reset.Sub(at)) / time.Duration(l.remaining+1))
	return min(at.Sub(now), left)
}

// end takes what the response said of the host's limits, if there was one.
// known is what begin returned.
func (p *pacer) end(key string, known bool, limits []told, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.mu.hosts[key]
	if h == nil {
		if len(limits) == 0 {
			return
		}
		h = p.addLocked(key, now)
	} else if known && h.underWay > 0 {
		h.underWay--
	}
	for _, t := range limits {
		h.learn(t, now)
	}
	if len(h.limits) == 0 && h.underWay == 0 {
		delete(p.mu.hosts, key)
	}
}

// learn replaces what is known of a limit. What is under way has not been
// counted by the server when it spoke, or only some of it.
func (h *host) learn(t told, now time.Time) {
	at := -1
	h.forget(now)
	for i := range h.limits {
		if h.limits[i].name == t.name {
			at = i
		}
	}
	if at < 0 {
		if len(h.limits) == maxLimits {
			return
		}
		h.limits = append(h.limits, paced{name: t.name})
		at = len(h.limits) - 1
	}
	l := &h.limits[at]
	l.quota, l.remaining, l.reset = t.quota, t.remaining-h.underWay, now.Add(t.reset)
}

// forget drops limits whose time is over.
func (h *host) forget(now time.Time) {
	kept := h.limits[:0]
	for _, l := range h.limits {
		if l.reset.After(now) {
			kept = append(kept, l)
		}
	}
	h.limits = kept
}

// addLocked makes room for one more host: those go of whom nothing is known any
// more, or else an eighth of all, so that the search for them is rare. To be
// forgotten costs a host a burst.
func (p *pacer) addLocked(key string, now time.Time) *host {
	if p.mu.hosts == nil {
		p.mu.hosts = make(map[string]*host)
	}
	if len(p.mu.hosts) >= maxHosts {
		for k, h := range p.mu.hosts {
			if h.forget(now); len(h.limits) == 0 {
				delete(p.mu.hosts, k)
			}
		}
		for k := range p.mu.hosts {
			if len(p.mu.hosts) < maxHosts*7/8 {
				break
			}
			delete(p.mu.hosts, k)
		}
	}
	h := &host{}
	p.mu.hosts[key] = h
	return h
}
