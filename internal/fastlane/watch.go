package fastlane

import "time"

// watch looks at all connections in turn, for what has taken too long. One
// goroutine with a coarse clock spares every call its timers; a bound is kept
// to within a quarter.
func (s *Server) watch() {
	t := time.NewTicker(s.beat)
	defer t.Stop()
	var all []*conn
	for {
		select {
		case <-s.done:
			return
		case <-t.C:
		}
		now := s.tick.Add(1)
		s.mu.Lock()
		all = all[:0]
		for cn := range s.mu.conns {
			all = append(all, cn)
		}
		s.mu.Unlock()
		for _, cn := range all {
			cn.look(now)
		}
		clear(all)
	}
}

// beats is a bound in ticks. A tick is added: the first is never whole.
func (s *Server) beats(d time.Duration) uint32 { return uint32(d/s.beat) + 1 }

// lastWait is how long a client may take to answer the PING of a shutdown, and
// to close when it has been told to.
const lastWait = time.Second

// look ends what has taken too long.
func (cn *conn) look(now uint32) {
	s := cn.server
	cn.mu.Lock()
	defer cn.unlockAndWake()
	switch {
	case cn.dead || !cn.settled: // a handshake has a deadline
		return
	case cn.writing && now-cn.writeSince > s.beats(s.o.WriteTimeout):
		cn.endLockedBy(SlowReader)
		return
	case cn.drain == drainAnnounced && now-cn.drainSince > s.beats(lastWait):
		cn.lastCallLocked()
	case cn.halfClosed && now-cn.drainSince > s.beats(lastWait):
		cn.endLockedBy(cn.why)
		return
	case cn.drain == drainNone && cn.inUse == 0 && now-cn.idleSince > s.beats(s.o.IdleTimeout):
		cn.drainLocked(Idle)
	}
	if now%trimEach == 0 {
		cn.trimLocked(now)
	}
	var late []*Call
	cn.streams.each(func(c *Call) {
		if why := c.late(now); why != Done {
			late = append(late, c)
		}
	})
	for _, c := range late {
		s.refused(c.late(now))
		cn.out = appendReset(cn.out, c.id, codeCancel)
		cn.abandonLocked(c, true)
	}
}

// late says what a stream has taken too long for, Done if nothing.
func (c *Call) late(now uint32) Reason {
	o := &c.conn.server.o
	switch {
	case c.blocked:
		if now-c.since > c.conn.server.beats(o.StallTimeout) {
			return Stalled
		}
	case c.exchange == nil && !c.ended:
		if now-c.since > c.conn.server.beats(o.RequestTimeout) {
			return Incomplete
		}
	}
	return Done
}

// endLockedBy ends a connection without a word: the peer does not read it.
func (cn *conn) endLockedBy(why Reason) {
	cn.why = why
	cn.dieLocked()
	_ = cn.raw.Close()
}
