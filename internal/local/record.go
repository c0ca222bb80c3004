package local

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/stage"
)

// How long what was learnt is believed. Between two answers of the store nobody
// but this process tells it that units were freed, so these are how late a
// refund, a reset or a lost state is seen that another process made.
const (
	believe      = weir.Second           // a denial
	believeFreed = 50 * weir.Millisecond // a denial where units may be freed at any time
	believeKnown = 10 * weir.Second      // what else a counter said
	lately       = 10 * weir.Second      // for so long a counter is one whose units are freed
)

// record is what is known of one counter. Instants are of the clock of asks,
// but for asOf.
type record struct {
	limit  weir.Limit // that it was asked under
	serial uint32     // of the set of policies
	wary   bool       // was reset, at an instant that is not known
	looks  uint8      // see denials.look

	cost    int64       // that was denied: so are greater ones,
	until   weir.Micros // until then; 0 when nothing is
	retryAt weir.Micros // when cost fits, told to callers: until, if it were not for the above

	known     weir.Micros // the following may be told until then
	remaining int64
	resetAt   weir.Micros
	before    weir.Usage
	asOf      weir.Micros // the store's clock

	freed     weir.Micros // until then a denial is believed for short
	looksFrom weir.Micros
}

// of tells whether r speaks of the counter as a charge asks for it: under the
// same limit, which an override or a descriptor may have changed.
func (r *record) of(a *stage.Ask, c *weir.Charge) bool {
	return r.serial == a.Serial && r.limit == c.Meter.Limit
}

// become makes r one that speaks of the counter as c asks for it.
func (r *record) become(a *stage.Ask, c *weir.Charge) {
	if r.of(a, c) {
		return
	}
	*r = record{limit: c.Meter.Limit, serial: a.Serial, wary: r.wary, freed: r.freed, asOf: r.asOf}
}

// denies tells whether a charge is known not to fit.
func (r *record) denies(c *weir.Charge, now weir.Micros) bool {
	return now < r.until && c.Cost >= r.cost && c.Cost > 0
}

// older tells whether the store answered a before what r knows. An instant that
// is far behind is of another clock: of a replica that took over.
func (r *record) older(a *stage.Ask) bool {
	behind := r.asOf - a.Entry.Now
	return behind > 0 && behind <= believe
}

// note takes over what the store said of the counter.
func (r *record) note(a *stage.Ask, o *weir.Outcome) {
	r.known = a.Now + believeKnown
	r.remaining, r.before, r.asOf = o.Remaining, o.Before, a.Entry.Now
	r.resetAt = a.Now + a.Took + o.ResetAfter
}

// deny takes over a denial. Of two that hold, that of the lesser cost says more.
func (r *record) deny(a *stage.Ask, c *weir.Charge, o *weir.Outcome) {
	if a.Now < r.until && r.cost < c.Cost || o.RetryAfter <= 0 {
		return
	}
	longest := believe
	if a.Now < r.freed {
		longest = believeFreed
	}
	r.cost = c.Cost
	// The store's clock was read at some instant between a.Now and Took later:
	// what is believed ends by the first, what is told by the last.
	r.until, r.retryAt = a.Now+min(o.RetryAfter, longest), weir.Never
	if o.RetryAfter != weir.Never {
		r.retryAt = a.Now + a.Took + o.RetryAfter
	}
}

// outdated tells whether a newer answer leaves nothing of a denial: its cost fits
// now, or units were taken and so the instant at which it fits has moved.
func (r *record) outdated(c *weir.Charge, o *weir.Outcome) bool {
	return o.Granted > 0 || o.OK && c.Cost >= r.cost && c.Mode != weir.UpTo
}

// lift ends a denial.
func (r *record) lift() { r.until, r.retryAt = 0, 0 }

// free is told that units came back.
func (r *record) free(a *stage.Ask) {
	r.lift()
	r.known, r.freed, r.asOf = 0, a.Now+lately, a.Entry.Now
}

// retryAfter is what a charge that does not fit is told, of which r denied the
// same cost or a lesser one. For a greater cost it is exact where the units that
// it lacks come at a known pace or all at once; of a sliding window it is the
// earliest that is possible.
func (r *record) retryAfter(c *weir.Charge, now weir.Micros) weir.Micros {
	m := c.Meter
	if c.Cost > m.Capacity || r.retryAt == weir.Never {
		return weir.Never
	}
	wait := r.retryAt - now
	if more := c.Cost - r.cost; m.Machine == weir.Bucket && more > 0 {
		wait += weir.Micros(more*m.Whole + (more*m.Rem+m.Den-1)/m.Den)
	}
	return wait
}

// tell fills o with what was last known of the counter, for a charge that r does
// not deny by itself. It is called full where that was said for a later instant
// only: what is not known to be used up must not be what a caller is told about.
func (r *record) tell(c *weir.Charge, now weir.Micros, o *weir.Outcome) {
	tellUnused(c, o)
	if now >= r.resetAt { // nothing is in use any more
		return
	}
	o.Remaining, o.ResetAfter, o.Before = r.remaining, r.resetAt-now, r.before
	if o.OK && c.Cost >= r.cost && c.Cost > 0 && now < r.retryAt {
		o.OK, o.RetryAfter = false, r.retryAfter(c, now)
	}
}

// tellDenied is tell for a charge that r denies.
func (r *record) tellDenied(c *weir.Charge, now weir.Micros, o *weir.Outcome) {
	o.Remaining, o.ResetAfter, o.Before = r.remaining, max(r.resetAt-now, 0), r.before
	o.RetryAfter = r.retryAfter(c, now)
}

// tellUnused fills o as for a counter of which nothing is in use.
func tellUnused(c *weir.Charge, o *weir.Outcome) {
	o.Remaining = c.Meter.Capacity
	o.OK = c.Cost <= c.Meter.Capacity
	if !o.OK {
		o.RetryAfter = weir.Never
	}
}
