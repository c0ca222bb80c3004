package local

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/keytable"
	"github.com/weirlimit/weir/internal/stage"
)

// learn takes over what the store answered. Of an entry that was admitted that
// is little: only counters of which something was known are looked at, and none
// while nothing is denied.
func (d *denials) learn(a *stage.Ask) {
	e := a.Entry
	if e.Replayed { // an answer of some time ago
		return
	}
	if !e.Admitted {
		d.extend(a.Now + believe)
	}
	quiet := int64(a.Now) >= d.horizon.Load()
	for i := range e.Charges {
		switch c := &e.Charges[i]; {
		case c.Mode == weir.Refund:
			if c.Cost > 0 {
				d.refunded(a, i)
			}
		case !e.Admitted:
			d.denied(a, i)
		case !quiet:
			d.admitted(a, i)
		}
	}
}

// denied takes over what an entry that was denied says of its i-th charge, be
// it the one that denied or not.
func (d *denials) denied(a *stage.Ask, i int) {
	c, o, h := &a.Entry.Charges[i], &a.Entry.Outcomes[i], &a.Hints[i]
	s := d.table.Lock(h.ID)
	defer s.Unlock()
	r, _ := s.Put(h.ID)
	r.become(a, c)
	if r.older(a) {
		return
	}
	if h.Frees || r.wary {
		// Of a counter that was reset a moment ago this may be an answer from
		// before; and what is charged across slots and then denied is undone.
		r.freed, r.wary = a.Now+lately, false
	}
	r.note(a, o)
	if r.outdated(c, o) {
		r.lift()
	}
	if !o.OK {
		r.deny(a, c, o)
	}
}

// admitted takes over what became of the i-th charge of an entry that was
// admitted, if anything is known of the counter.
func (d *denials) admitted(a *stage.Ask, i int) {
	c, o, h := &a.Entry.Charges[i], &a.Entry.Outcomes[i], &a.Hints[i]
	s := d.table.Lock(h.ID)
	defer s.Unlock()
	r := s.Find(h.ID)
	switch {
	case r == nil || r.older(a):
		return
	case !r.of(a, c): // what is in use drains from now on as another limit says
		r.lift()
		return
	}
	r.note(a, o)
	if r.outdated(c, o) {
		r.lift()
	}
}

// refunded takes over that units came back.
func (d *denials) refunded(a *stage.Ask, i int) {
	s := d.table.Lock(a.Hints[i].ID)
	defer s.Unlock()
	r, _ := s.Put(a.Hints[i].ID)
	r.free(a)
}

// forget drops what is known of a counter that was reset, and remembers that it
// was: an answer from before may still come in.
func (d *denials) forget(id keytable.ID) {
	s := d.table.Lock(id)
	defer s.Unlock()
	r, _ := s.Put(id)
	r.lift()
	r.known, r.wary = 0, true
}

// extend makes the horizon at least at.
func (d *denials) extend(at weir.Micros) {
	for {
		h := d.horizon.Load()
		if h >= int64(at) || d.horizon.CompareAndSwap(h, int64(at)) {
			return
		}
	}
}
