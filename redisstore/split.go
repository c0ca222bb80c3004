package redisstore

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// split is an entry whose keys live in several places. Its parts are decided
// in parallel, each atomic, each remembered under an id; when they do not all
// pass, those that did are undone by that id. Undoing what did not run, or what an
// earlier try of the same request was answered by, does nothing, so a part whose
// answer was lost is undone too.
type split struct {
	store  *Store
	parent *item
	parts  []*part
	left   atomic.Int32

	// attempt tells this try of a request from others under the same id: only what
	// it charged itself is undone.
	attempt uint64
}

// part is the charges of a split entry that have one place.
type part struct {
	item
	split   *split
	own     weir.Entry
	indexes []int // of its charges in the parent entry
	kept    bool  // see place
}

// place is what the charges of a part have in common: a slot, so that a part
// is never split again, and whether they stay when the entry is denied.
type place struct {
	slot uint16
	kept bool
}

// undoFor is how long an undo may take; it is in nobody's way.
const undoFor = time.Second

// split sends it in parts. It is queued and in no queue.
func (s *Store) split(it *item) {
	if !it.state.CompareAndSwap(queued, building) {
		it.holder.dropped()
		return
	}
	sp := &split{store: s, parent: it, attempt: mathrand.Uint64() | 1}
	byPlace := make(map[place]*part)
	for i, c := range it.entry.Charges {
		where := place{slot: s.slotOf(c.Key), kept: c.Mode == weir.Always || c.Mode == weir.Refund}
		p := byPlace[where]
		if p == nil {
			p = &part{split: sp, kept: where.kept}
			p.slot = where.slot
			byPlace[where] = p
			sp.parts = append(sp.parts, p)
		}
		// The parent may be given up while the parts are away.
		c.Key, c.Twin = strings.Clone(c.Key), strings.Clone(c.Twin)
		if c.Group != 0 && c.Mode == weir.Enforce {
			// Which member of a group has room is known when all parts are back;
			// until then a member is charged if it has room.
			c.Mode, c.Group = weir.Shadow, 0
		}
		p.own.Charges = append(p.own.Charges, c)
		p.indexes = append(p.indexes, i)
	}
	id, flags := strings.Clone(it.entry.ID), uint8(0)
	if id == "" {
		id, flags = rand.Text(), flagShort
	}
	sp.left.Store(int32(len(sp.parts)))
	it.state.Store(flying)
	for _, p := range sp.parts {
		p.own.ID = id
		p.init(&p.own, p, it.began, it.deadline)
		p.hasty = it.hasty
		p.identify(nil)
		if p.flags&flagReplay != 0 {
			p.flags |= flags | flagTried
			p.attempt = sp.attempt
		}
		p.declared = it.declared
		s.sendPart(&p.item)
	}
}

func (s *Store) sendPart(it *item) {
	if s.closed.Load() {
		s.refuse(it, closedError())
		return
	}
	sh := s.topo.Load().slots[it.slot]
	if sh == nil {
		s.refuse(it, &weir.Error{Code: weir.CodeClusterDown, Message: "no node serves the key's slot"})
		return
	}
	sh.enqueue(it)
}

func (p *part) dropped() {}

func (p *part) soon() {}

func (p *part) settled(it *item, _ *flight) { p.answered(it) }

func (p *part) answered(*item) {
	if p.split.left.Add(-1) == 0 {
		p.split.finish()
	}
}

// finish puts the parts' answers together.
func (sp *split) finish() {
	it := sp.parent
	// What the parent asked is read from the parts' copies: it may be gone.
	n := 0
	var failed error
	for _, p := range sp.parts {
		n += len(p.indexes)
		if p.own.Err != nil && failed == nil {
			failed = p.own.Err
		}
	}
	claimed := it.state.CompareAndSwap(flying, done)
	defer it.holder.dropped()
	if failed != nil {
		sp.undo()
		if claimed {
			it.entry.Err = failed
			it.holder.answered(it)
		}
		return
	}
	if !claimed {
		sp.undo()
		return
	}
	e := it.entry
	e.Outcomes = grow(e.Outcomes, n)
	e.Replayed = true
	e.Now = 0
	for _, p := range sp.parts {
		for j, i := range p.indexes {
			e.Outcomes[i] = p.own.Outcomes[j]
		}
		e.Replayed = e.Replayed && p.own.Replayed
		e.Now = max(e.Now, p.own.Now)
	}
	e.Admitted = algo.Passes(e.Charges, e.Outcomes)
	switch {
	case !e.Admitted:
		sp.undo()
		sp.uncharge(e)
	case e.Charges[0].Mode == weir.UpTo:
		sp.level(e)
	}
	it.holder.answered(it)
}

// uncharge makes the outcomes of undone charges say so.
func (sp *split) uncharge(e *weir.Entry) {
	for i := range e.Outcomes {
		o, mode := &e.Outcomes[i], e.Charges[i].Mode
		if o.Granted > 0 && mode != weir.Refund && mode != weir.Always {
			o.Remaining = min(o.Remaining+o.Granted, e.Charges[i].Meter.Capacity)
			o.Granted, o.Delay = 0, 0
		}
	}
}

// level gives every part of an up-to entry what the least of them got, and
// returns the rest.
func (sp *split) level(e *weir.Entry) {
	least := e.Outcomes[0].Granted
	for i := range e.Outcomes {
		least = min(least, e.Outcomes[i].Granted)
	}
	for _, p := range sp.parts {
		back := weir.Entry{ID: rand.Text()}
		for j, i := range p.indexes {
			if extra := e.Outcomes[i].Granted - least; extra > 0 && !p.own.Replayed {
				c := p.own.Charges[j]
				c.Mode, c.Cost = weir.Refund, extra
				back.Charges = append(back.Charges, c)
			}
			if extra := e.Outcomes[i].Granted - least; extra > 0 {
				e.Outcomes[i].Granted = least
				e.Outcomes[i].Remaining += extra
			}
		}
		if len(back.Charges) > 0 {
			sp.store.amend(back, p.slot, 0)
		}
	}
}

// undo takes back what the parts charged, or may have.
func (sp *split) undo() {
	for _, p := range sp.parts {
		if p.kept || p.own.Err == nil && (!p.own.Admitted || p.own.Replayed) {
			continue
		}
		if weir.CodeOf(p.own.Err) == weir.CodeBreaker { // was not sent
			continue
		}
		if p.flags&flagReplay != 0 {
			sp.store.amend(weir.Entry{ID: p.own.ID, Charges: p.own.Charges}, p.slot, sp.attempt)
			continue
		}
		// Concurrency only, which has no record: what it newly holds is released. When
		// the answer was lost nobody knows whether it is new: it is the caller's then,
		// who may release it.
		if p.own.Err != nil {
			continue
		}
		e := weir.Entry{ID: p.own.ID}
		for i, c := range p.own.Charges {
			if p.own.Outcomes[i].Granted == 0 {
				continue
			}
			c.Mode = weir.Refund
			e.Charges = append(e.Charges, c)
		}
		if len(e.Charges) > 0 {
			sp.store.amend(e, p.slot, 0)
		}
	}
}
