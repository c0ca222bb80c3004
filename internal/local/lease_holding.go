package local

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/lease"
	"github.com/weirlimit/weir/internal/stage"
)

// pool is what is left of one lease. From until on that is nothing.
type pool struct {
	units int64
	until weir.Micros
}

func (p *pool) left(now weir.Micros) int64 {
	if now >= p.until {
		return 0
	}
	return p.units
}

// prefetchPart: a lease is renewed when this part of what was held is left.
const prefetchPart = 5

// holding is what is held of one counter, under one limit of one set of
// policies.
type holding struct {
	limit  weir.Limit
	serial uint32
	turn   uint32 // numbers the wishes that were sent
	busy   bool   // one is under way
	key    string // the counter's name, in memory of its own

	// Two leases: one is spent while the other is fetched. cur ends first.
	cur, next pool
	low       int64       // with no more than this, the next is fetched
	pause     weir.Micros // not before then
	grantedAt weir.Micros // when the last lease was asked for
	sizer     lease.Sizer

	remaining int64       // what the store had left when it was last asked
	resetAt   weir.Micros // when nothing is in use, as of then
	asOf      weir.Micros // the store's clock then

	bound    int64 // that all nodes together may hold: see LeaseStats
	requests int64 // answered here, not yet told to the sketch
	spent    int64 // units, not yet told to the counters
	lost     int64 // the same
}

// of tells whether what is held may be spent on a charge.
func (h *holding) of(a *stage.Ask, c *weir.Charge) bool {
	return h.serial == a.Serial && h.limit == c.Meter.Limit
}

// renew makes h one of the charge's limit, with nothing held. It returns false
// for a charge of an older set of policies, which leaves h as it is. A counter
// that is asked for under two limits in turn, such as those of two plans, would
// lose a lease each time: it is left alone for a while.
func (h *holding) renew(a *stage.Ask, c *weir.Charge) bool {
	if int32(a.Serial-h.serial) < 0 {
		return false
	}
	h.drop()
	pause := weir.Micros(0)
	if h.serial == a.Serial && h.limit != (weir.Limit{}) {
		pause = a.Now + coolAfter
	}
	*h = holding{
		pause: pause,
		limit: c.Meter.Limit, serial: a.Serial, turn: h.turn, key: h.key,
		requests: h.requests, spent: h.spent, lost: h.lost,
	}
	return true
}

// drop loses what is held.
func (h *holding) drop() {
	h.lost += h.cur.units + h.next.units
	h.cur, h.next = pool{}, pool{}
}

// settle forgets what has ended.
func (h *holding) settle(now weir.Micros) {
	if h.cur.left(now) > 0 {
		return
	}
	h.lost += h.cur.units
	h.cur, h.next = h.next, pool{}
	if h.cur.units > 0 && h.cur.left(now) == 0 {
		h.lost += h.cur.units
		h.cur = pool{}
	}
}

// held is how many units there are to spend.
func (h *holding) held(now weir.Micros) int64 { return h.cur.left(now) + h.next.left(now) }

// take spends units, and returns until when the first of them was good; or
// returns false.
func (h *holding) take(now weir.Micros, units int64) (until weir.Micros, ok bool) {
	h.settle(now)
	if h.cur.units+h.next.left(now) < units {
		return 0, false
	}
	h.spent += units
	first := min(units, h.cur.units)
	h.cur.units -= first
	h.next.units -= units - first
	return h.cur.until, true
}

// giveBack undoes a take, unless the lease that it took from has ended.
func (h *holding) giveBack(units int64, until weir.Micros) {
	h.spent -= units
	if h.cur.until != until {
		h.lost += units
		return
	}
	h.cur.units += units
}

// grant takes over a lease that was asked for at an instant. What had ended by
// then is dropped. Of three the two that end first are joined, and end when the
// first of them does: the new one keeps its time, also when the others end while
// it is fetched.
func (h *holding) grant(sent weir.Micros, p pool) {
	h.settle(sent)
	switch {
	case h.cur.units == 0:
		h.cur = p
		return
	case h.next.units == 0:
	case p.until < h.next.until:
		p, h.next = h.next, p
		fallthrough
	default:
		h.cur = pool{units: h.cur.units + h.next.units, until: min(h.cur.until, h.next.until)}
	}
	h.next = p
	if h.next.until < h.cur.until {
		h.cur, h.next = h.next, h.cur
	}
}

// hear takes over what the store said of the counter, in answer to something
// sent at an instant; unless something later is known.
func (h *holding) hear(sent, asOf weir.Micros, o *weir.Outcome) {
	if behind := h.asOf - asOf; behind > 0 && behind < weir.Second { // more is another clock
		return
	}
	h.remaining, h.resetAt, h.asOf = o.Remaining, sent+o.ResetAfter, asOf
}

// wants tells whether it is time for the next lease.
func (h *holding) wants(now weir.Micros) bool {
	return !h.busy && now >= h.pause && h.held(now) <= h.low && !h.sizer.Resting(now)
}

// tell fills o for a charge that was paid from here. What the store had left is
// what it said last: others have taken from it since, and units have come back.
func (h *holding) tell(c *weir.Charge, now weir.Micros, o *weir.Outcome) {
	room := min(h.remaining+h.held(now), c.Meter.Capacity)
	// Not in one literal: that would be made elsewhere, and copied.
	o.OK, o.Granted, o.Remaining, o.ResetAfter, o.RetryAfter, o.Delay = true, c.Cost, room, max(0, h.resetAt-now), 0, 0
	o.Before.Used, o.Before.Since = max(0, c.Meter.Capacity-room-c.Cost), 0
}
