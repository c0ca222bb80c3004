package sim

import (
	"maps"
	"slices"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// server is a shard of the store: a primary that decides, and a replica that is
// told a little later.
//
//	      kill, or the like               promote: what the replica
//	up -----------------------> down ---- has not heard is lost ------> up
//	 |  hang                                                            ^
//	 +------> hung: keeps what it is sent, and does it when it goes on -+
type server struct {
	w       *world
	id      int
	clock   clock
	state   serverState
	held    map[string]algo.State
	replica map[string]algo.State
	writes  []write // that the replica has not heard of, perhaps
	lag     weir.Micros
	died    weir.Micros
	slow    weir.Micros // that every call takes
	waiting []func()    // that came while it hung
}

type serverState uint8

const (
	up serverState = iota
	down
	hung
)

type write struct {
	at    weir.Micros
	key   string
	state algo.State
}

func newServer(w *world, id int) *server {
	return &server{
		w: w, id: id, clock: serverClock(w.plan), lag: weir.Micros(w.plan.Int64N(int64(300 * weir.Millisecond))),
		held: map[string]algo.State{}, replica: map[string]algo.State{},
	}
}

// receive is handed a message. It calls answer with whether it was decided, or
// not at all, or much later.
func (s *server) receive(e *weir.Entry, answer func(decided bool)) {
	switch s.state {
	case down:
		answer(false)
	case hung:
		s.waiting = append(s.waiting, func() { s.receive(e, answer) })
	case up:
		if s.slow > 0 {
			s.w.after(s.slow, func() {
				if s.state == up {
					s.decide(e)
				}
				answer(s.state == up)
			})
			return
		}
		s.decide(e)
		answer(true)
	}
}

// decide does what the script does.
func (s *server) decide(e *weir.Entry) {
	states := make([]algo.State, len(e.Charges))
	for i := range e.Charges {
		states[i] = s.held[e.Charges[i].Key]
		states[i].Runs = slices.Clone(states[i].Runs)
	}
	e.Outcomes = make([]weir.Outcome, len(e.Charges))
	e.Now = s.clock.at(s.w.now)
	e.Admitted = algo.Settle(e.Charges, algo.Owner{}, states, e.Now, e.Outcomes)
	for i := range e.Charges {
		if states[i].Dirty {
			states[i].Dirty = false
			s.held[e.Charges[i].Key] = states[i]
			s.writes = append(s.writes, write{s.w.now, e.Charges[i].Key, states[i]})
		}
	}
	if len(s.writes) > 256 {
		s.replicate(s.w.now - s.lag)
	}
}

// replicate takes over what was written until an instant.
func (s *server) replicate(until weir.Micros) {
	n := 0
	for n < len(s.writes) && s.writes[n].at <= until {
		s.replica[s.writes[n].key] = s.writes[n].state
		n++
	}
	s.writes = slices.Delete(s.writes, 0, n)
}

func (s *server) kill() {
	s.state, s.died = down, s.w.now
	s.w.note("shard %d dies", int64(s.id), 0)
}

// promote makes the replica the primary. Unless it is graceful, what it has not
// heard is lost. Its clock is another.
func (s *server) promote(graceful bool) {
	old := s.clock.at(s.w.now)
	if graceful {
		s.replicate(s.w.now)
	} else {
		s.replicate(s.died - s.lag)
		s.clock = serverClock(s.w.plan)
		s.clock.offset += weir.Micros(s.w.plan.Int64N(int64(200*weir.Millisecond))) - 100*weir.Millisecond
	}
	lost := map[string]bool{}
	for _, w := range s.writes {
		lost[w.key] = true
	}
	ahead := s.clock.at(s.w.now) > old
	s.held, s.writes = maps.Clone(s.replica), nil
	s.state = up
	s.w.note("shard %d is taken over by its replica, %d keys lose writes", int64(s.id), int64(len(lost)))
	for _, c := range s.w.countersOf(s.id) {
		if lost[c.key] || ahead { // time that is skipped is units that come back early
			c.lost(s.w.now)
		}
	}
}

// wipe makes it forget everything; it is up then.
func (s *server) wipe() {
	clear(s.held)
	clear(s.replica)
	s.writes, s.state = nil, up
	s.w.note("shard %d is empty", int64(s.id), 0)
	for _, c := range s.w.countersOf(s.id) {
		c.lost(s.w.now)
	}
}

func (s *server) hang() {
	s.state = hung
	s.w.note("shard %d hangs", int64(s.id), 0)
}

// resume goes on with what came meanwhile.
func (s *server) resume() {
	s.state = up
	s.w.note("shard %d goes on, with %d messages", int64(s.id), int64(len(s.waiting)))
	waiting := s.waiting
	s.waiting = nil
	for _, do := range waiting {
		do()
	}
}
