package shed

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/line"
)

// Ticket is a place that a request has. The zero value is none.
type Ticket struct {
	worker   *Worker
	priority Priority
	waiter   *line.Waiter // in shadow: what would wait
}

// Leave gives the place back. A second call does nothing; a copy of a ticket is
// not to be used as well.
func (t *Ticket) Leave() {
	w := t.worker
	if w == nil {
		return
	}
	t.worker = nil
	if t.waiter != nil {
		w.leaveShadow(t.priority, t.waiter)
		return
	}
	for {
		n := w.inside.Load()
		if n >= busy {
			break
		}
		if w.inside.CompareAndSwap(n, n-1) {
			return
		}
	}
	w.mu.line.Leave(w.lock())
	w.unlock()
}

// leaveShadow ends a request that was served and would have waited.
func (w *Worker) leaveShadow(p Priority, x *line.Waiter) {
	now := w.lock()
	why := reasonOf(x.Answer)
	switch {
	case x.Answer == line.Inside:
		w.mu.line.Leave(now)
	case w.mu.line.GiveUp(now, x) && now-x.Since >= micros(w.options.MaxWait):
		why = WaitedOut
	}
	w.unlock()
	if why != Admitted {
		w.tell(p, why)
	}
}

// tell counts a request that was sent away, or would have been.
func (w *Worker) tell(p Priority, why Reason) {
	w.shed[p.Index()][why].Add(1)
	if hook := w.options.Hooks.Shed; hook != nil {
		hook(p, why, w.options.Shadow)
	}
}

// Stats is how a Worker is doing.
type Stats struct {
	Inside  int // requests with a place
	Waiting int // requests in the line
	// Level is how many priorities are shed on arrival: 0 none, 1 test, 2 read
	// too, 3 all but critical.
	Level int
	// Shed counts requests by Priority.Index and Reason: as many series as
	// there are of both, whoever calls.
	Shed [weir.Priorities][Reasons]uint64
}

// Stats returns how w is doing now.
func (w *Worker) Stats() Stats {
	var s Stats
	if n := w.inside.Load(); n < busy {
		s.Inside = int(n)
	} else {
		now := w.lock()
		s.Level = w.mu.line.Observe(now)
		s.Inside, s.Waiting = w.mu.line.Inside(), w.mu.line.Waiting()
		w.unlock()
	}
	for p := range s.Shed {
		for r := range s.Shed[p] {
			s.Shed[p][r] = w.shed[p][r].Load()
		}
	}
	return s
}

// Shadow tells whether w only counts.
func (w *Worker) Shadow() bool { return w.options.Shadow }

// RetryAfter is when to come back to w, before jitter: when what is shed now
// may be let in again.
func (w *Worker) RetryAfter() weir.Micros { return micros(w.options.Recovery) }
