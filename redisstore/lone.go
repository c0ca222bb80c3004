package redisstore

import "github.com/weirlimit/weir"

// maxSpare bounds the calls that a shard keeps.
const maxSpare = 1024

// submitLone is submit for one entry without an id on a single server, which is
// what a busy server is asked: with one lock, in which its memory is found too.
// It returns false for any other, and for whatever is to be refused.
func (s *Store) submitLone(b *weir.Batch, done func(*weir.Batch)) bool {
	e := &b.Entries[0]
	t := s.topo.Load()
	if t.slots != nil || e.ID != "" || e.Validate() != nil {
		return false
	}
	now, deadline, hasty := s.times(b.Deadline, b.Asked)
	if deadline <= now {
		return false
	}
	e.Err, e.Admitted, e.Replayed = nil, false, false
	sh := t.shards[0]
	sh.mu.Lock()
	if s.closed.Load() || sh.mu.closed != nil || sh.mu.breaker.State() != weir.BreakerClosed || len(sh.mu.queue) >= s.opts.MaxQueue {
		sh.mu.Unlock()
		return false
	}
	c := sh.spareLocked()
	c.store, c.batch, c.done = s, b, done
	c.hold()
	it := &c.lone[0]
	it.init(e, c, now, deadline)
	it.hasty = hasty
	sh.mu.queue = append(sh.mu.queue, it)
	next := sh.wakeLocked()
	sh.mu.Unlock()
	sh.depart(next)
	s.watch.expect(deadline)
	return true
}

func (s *shard) spareLocked() *call {
	last := len(s.mu.spare) - 1
	if last < 0 {
		c := &call{wake: make(chan struct{}, 1), home: s}
		c.items = c.lone[:]
		return c
	}
	c := s.mu.spare[last]
	s.mu.spare = s.mu.spare[:last]
	return c
}

// keepSpareLocked takes over what a flight left.
func (s *shard) keepSpareLocked(f *flight) {
	n := min(len(f.spare), maxSpare-len(s.mu.spare))
	s.mu.spare = append(s.mu.spare, f.spare[:n]...)
	clear(f.spare)
	f.spare = f.spare[:0]
}
