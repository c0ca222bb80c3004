package redisstore

import (
	"slices"
	"time"

	"github.com/weirlimit/weir"
)

// putBack returns to the head of the queue what did not fit into a flight.
func (s *shard) putBack(f *flight, n int) {
	s.mu.Lock()
	s.mu.queue = slices.Insert(s.mu.queue, 0, f.items[n:]...)
	f.items = f.items[:n]
	next := s.wakeLocked()
	s.mu.Unlock()
	s.depart(next)
}

// again puts items that certainly have not run back at the head of the queue,
// or with whoever serves their slot now.
func (s *shard) again(items []*item, cause *weir.Error) {
	home := items[:0]
	t := s.store.topo.Load()
	for _, it := range items {
		if !it.state.CompareAndSwap(flying, queued) {
			s.forget(it)
			it.holder.dropped()
			continue
		}
		it.cause = cause
		if t.slots != nil && t.slots[it.slot] != s && t.slots[it.slot] != nil {
			s.forget(it)
			t.slots[it.slot].enqueue(it)
			continue
		}
		home = append(home, it)
	}
	s.mu.Lock()
	s.mu.down = cause
	closed := s.mu.closed
	var refused refusals
	var next *flight
	if closed == nil {
		home, refused = s.keepLocked(home)
		s.mu.queue = append(append(make([]*item, 0, len(home)+len(s.mu.queue)), home...), s.mu.queue...)
		next = s.wakeLocked()
	}
	s.mu.Unlock()
	s.depart(next)
	refused.answer(s.store)
	if closed != nil {
		for _, it := range home {
			s.forward(it, closed)
		}
	}
}

// keepLocked sorts out what need not be tried again, because the breaker opened
// while it was away.
func (s *shard) keepLocked(items []*item) (kept []*item, r refusals) {
	if s.mu.breaker.State() == weir.BreakerClosed {
		return items, r
	}
	for _, it := range items {
		if it.probe.Probe() {
			kept = append(kept, it)
		} else {
			r.waiting = append(r.waiting, it)
		}
	}
	r.err = s.mu.refusal
	return kept, r
}

// rest puts items aside that certainly have not run and must wait for a slot
// to have moved. They are in nobody's way meanwhile.
func (s *shard) rest(items []*item, cause *weir.Error) {
	var kept []*item
	for _, it := range items {
		if !it.state.CompareAndSwap(flying, queued) {
			s.forget(it)
			it.holder.dropped()
			continue
		}
		it.cause = cause
		s.forget(it)
		kept = append(kept, it)
	}
	s.mu.Lock()
	closed := s.mu.closed
	if closed == nil {
		s.mu.resting = append(s.mu.resting, kept...)
		if len(s.mu.resting) == len(kept) {
			time.AfterFunc(restFor, s.rouse)
		}
	}
	s.mu.Unlock()
	if closed != nil {
		for _, it := range kept {
			s.forward(it, closed)
		}
	}
}

// rouse queues what has rested, with whoever serves its slot now.
func (s *shard) rouse() {
	s.mu.Lock()
	rested := s.mu.resting
	s.mu.resting = nil
	s.mu.Unlock()
	t := s.store.topo.Load()
	for _, it := range rested {
		sh := t.slots[it.slot]
		if sh == nil {
			sh = s
		}
		sh.enqueue(it)
	}
}

// forward hands an item that this shard cannot take to the one that serves its
// slot now, or answers it with err. A shard is closed only after the topology
// without it is in place.
func (s *shard) forward(it *item, err *weir.Error) {
	if t := s.store.topo.Load(); t.slots != nil && err.Code == weir.CodeMoved {
		if sh := t.slots[it.slot]; sh != nil && sh != s {
			sh.enqueue(it)
			return
		}
	}
	if err.Code == weir.CodeBreaker && s.store.follow != nil {
		s.store.follow.poke() // it may have been replaced
	}
	s.store.refuse(it, err)
}
