package local

import (
	"strings"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/keytable"
	"github.com/weirlimit/weir/internal/lease"
	"github.com/weirlimit/weir/internal/stage"
)

// wish is a lease that is asked for: of all the charges of a request together,
// so many units of each. It has all the memory it needs; what the request's
// charges refer to is not the wish's to keep.
type wish struct {
	leaser *leaser
	batch  weir.Batch // of one entry
	done   func(*weir.Batch)
	sent   weir.Micros
	nodes  int
	serial uint32
	units  int64
	parts  [maxLeaseCharges]part
	ask    stage.Ask // for who is told of the answer
	hints  [maxLeaseCharges]stage.Hint
}

// part is one charge's.
type part struct {
	id   keytable.ID
	turn uint32
}

func newWish(l *leaser) *wish {
	w := &wish{leaser: l}
	w.batch.Entries = []weir.Entry{{
		Charges:  make([]weir.Charge, 0, maxLeaseCharges),
		Outcomes: make([]weir.Outcome, 0, maxLeaseCharges),
	}}
	w.done = w.answered
	return w
}

// retryPause is how long a key that could not be leased is left alone, in parts
// of the refresh interval: what stands in the way does not change with each
// request.
const retryPause = 10

// acquire asks for units of all the charges of a, which was admitted, unless
// there is a reason not to.
func (l *leaser) acquire(a *stage.Ask) {
	for i := range a.Entry.Charges {
		// The store decides on one slot at once, and grants the same number of all.
		if a.Hints[i].Frees || a.Entry.Charges[i].Cost != a.Entry.Charges[0].Cost {
			return
		}
	}
	rate, ok := l.heat(a)
	if !ok {
		return
	}
	var w *wish
	select {
	case w = <-l.wishes:
	default:
		l.totals.crowded.Add(1)
		return
	}
	if !w.prepare(a, rate) {
		l.wishes <- w
		return
	}
	l.store.Submit(&w.batch, w.done)
}

// heat returns the rate of the requests that have all the charges of a, if all
// of their keys are hot: one that is not would lose what is taken of it. A key
// that is being leased stays hot down to half of what made it so.
func (l *leaser) heat(a *stage.Ask) (rate float64, ok bool) {
	for i := range a.Entry.Charges { // first, what changes nothing
		if leased, ready := l.ready(a, i); !ready || !leased && !l.isHot(a, i) {
			return 0, false
		}
	}
	for i := range a.Entry.Charges {
		most, _ := l.hot.add(a.Hints[i].ID, a.Entry.Charges[i].Key, float64(l.drain(a, i)), a.Now)
		if most < l.hot.rate/2 {
			return 0, false
		}
		if i == 0 || most < rate {
			rate = most
		}
	}
	return rate, true
}

// ready tells whether the i-th charge's key may be asked for, and whether it is
// being leased.
func (l *leaser) ready(a *stage.Ask, i int) (leased, ready bool) {
	id := a.Hints[i].ID
	s := l.table.Lock(id)
	defer s.Unlock()
	h := s.Find(id)
	if h == nil {
		return false, true
	}
	if !h.of(a, &a.Entry.Charges[i]) && !h.renew(a, &a.Entry.Charges[i]) {
		return false, false
	}
	return a.Now-h.grantedAt < coolAfter, !h.busy && a.Now >= h.pause && !h.sizer.Resting(a.Now)
}

// coolAfter is how long after its last lease a key has to become hot anew.
const coolAfter = 2 * weir.Second

func (l *leaser) isHot(a *stage.Ask, i int) bool {
	_, least := l.hot.add(a.Hints[i].ID, a.Entry.Charges[i].Key, 0, a.Now)
	return least >= l.hot.rate
}

// drain returns the requests that were answered here and not yet counted.
func (l *leaser) drain(a *stage.Ask, i int) (n int64) {
	id := a.Hints[i].ID
	s := l.table.Lock(id)
	defer s.Unlock()
	if h := s.Find(id); h != nil {
		h.pause = a.Now + l.config.Refresh/retryPause
		n, h.requests = h.requests, 0
	}
	return n
}

// prepare fills w and makes the holdings wait for it; or leaves them as they
// were and returns false.
func (w *wish) prepare(a *stage.Ask, rate float64) bool {
	l := w.leaser
	w.sent, w.serial, w.nodes, w.units = a.Now, a.Serial, max(l.instances(), 1), 0
	e := &w.batch.Entries[0]
	*e = weir.Entry{Charges: e.Charges[:0], Outcomes: e.Outcomes[:0]}
	for i := range a.Entry.Charges {
		n := w.reserve(a, i, rate)
		if n == 0 {
			w.cancel()
			return false
		}
		if i == 0 || n < w.units {
			w.units = n
		}
	}
	if w.units < a.Entry.Charges[0].Cost {
		w.cancel()
		return false
	}
	for i := range e.Charges {
		e.Charges[i].Cost = w.units
	}
	now := time.Now()
	l.offset.Store(int64(a.Now) - now.Sub(l.began).Microseconds())
	w.batch.Deadline = now.Add(l.config.Refresh.Duration())
	return true
}

// reserve makes the i-th charge's holding wait for w, and returns how many units
// of it to ask for; 0 for none.
func (w *wish) reserve(a *stage.Ask, i int, rate float64) int64 {
	l, c, id := w.leaser, &a.Entry.Charges[i], a.Hints[i].ID
	most := l.config.Most(c.Meter, w.nodes)
	if most < c.Cost {
		return 0
	}
	s := l.table.Lock(id)
	defer s.Unlock()
	h, fresh := s.Put(id)
	if fresh {
		h.key, h.serial = strings.Clone(c.Key), a.Serial
	}
	if !h.of(a, c) && !h.renew(a, c) || h.busy {
		return 0
	}
	if h.sizer.Rate() == 0 {
		h.sizer.Seed(rate*float64(c.Cost), a.Now)
	}
	if o := &a.Entry.Outcomes[i]; h.asOf == 0 {
		h.hear(a.Now, a.Entry.Now, o) // the first: the store has just answered
	}
	n := h.sizer.Want(a.Now, l.terms(h, c, a.Now, most))
	if n == 0 {
		return 0
	}
	h.busy = true
	h.turn++
	e := &w.batch.Entries[0]
	w.parts[len(e.Charges)] = part{id: id, turn: h.turn}
	e.Charges = append(e.Charges, weir.Charge{Key: h.key, Meter: c.Meter, Mode: weir.UpTo})
	return n
}

// terms of a lease of c.
func (l *leaser) terms(h *holding, c *weir.Charge, now weir.Micros, most int64) lease.Terms {
	t := lease.Terms{
		Refresh: l.config.Refresh, Life: l.config.Life(c.Meter),
		Most: most, Held: h.held(now), Least: c.Cost,
	}
	if c.Meter.Machine == weir.Window && h.resetAt > now {
		t.Left = h.resetAt - now
	}
	return t
}

// cancel undoes the reservations.
func (w *wish) cancel() {
	for i := range w.batch.Entries[0].Charges {
		w.with(i, func(h *holding) { h.busy = false })
	}
}

// with calls f with the i-th holding, if that is still what waits for w.
func (w *wish) with(i int, f func(*holding)) bool {
	p := &w.parts[i]
	s := w.leaser.table.Lock(p.id)
	defer s.Unlock()
	h := s.Find(p.id)
	if h == nil || h.turn != p.turn || h.serial != w.serial || h.limit != w.batch.Entries[0].Charges[i].Meter.Limit {
		return false
	}
	f(h)
	return true
}

// answered is the store's callback.
func (w *wish) answered(*weir.Batch) {
	e, l := &w.batch.Entries[0], w.leaser
	l.totals.answer(e, w.units)
	if e.Err == nil && l.told != nil {
		w.tell(e)
	}
	for i := range e.Charges {
		if e.Err != nil {
			w.with(i, func(h *holding) {
				h.busy = false
				h.sizer.Failed(w.sent, lease.Terms{Refresh: l.config.Refresh})
			})
			continue
		}
		n := e.Outcomes[i].Granted
		l.totals.taken.Add(n)
		if !w.with(i, func(h *holding) { w.granted(h, i) }) {
			l.totals.lost.Add(n)
		}
	}
	l.wishes <- w
}

// tell passes the store's answer on.
func (w *wish) tell(e *weir.Entry) {
	for i := range e.Charges {
		w.hints[i] = stage.Hint{ID: w.parts[i].id, Rule: -1}
	}
	w.ask = stage.Ask{Now: w.sent, Serial: w.serial, Entry: e, Hints: w.hints[:len(e.Charges)]}
	w.leaser.told(&w.ask)
}

// granted hands the i-th charge's units over.
func (w *wish) granted(h *holding, i int) {
	l, e := w.leaser, &w.batch.Entries[0]
	c, o := &e.Charges[i], &e.Outcomes[i]
	h.busy, h.pause = false, 0
	h.sizer.Granted(w.sent, w.units, o.Granted, lease.Terms{Refresh: l.config.Refresh})
	h.hear(w.sent, e.Now, o)
	if o.Granted == 0 {
		return
	}
	h.grant(w.sent, pool{units: o.Granted, until: l.config.Until(w.sent, c.Meter, o)})
	h.low = h.held(w.sent) / prefetchPart
	h.grantedAt = w.sent
	h.bound = h.held(w.sent) * int64(w.nodes)
}
