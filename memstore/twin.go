package memstore

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// maxNames is how many keys an entry can have: every charge can have a twin.
const maxNames = 2 * weir.MaxCharges

// loadTwins reads the state of charge i, which has two names: that of the one
// to be read first, or of the other if that has none which counts.
func (s *Store) loadTwins(c *call, e *weir.Entry, i int) {
	charge, st := &e.Charges[i], &c.states[i]
	first, other := i, int(c.twinOf[i])
	if charge.Twinning == weir.TwinLast {
		first, other = other, first
	}
	s.loadName(c, first, charge.Meter, st)
	if st.Counts(charge.Meter, e.Now) {
		at, _ := s.shardOf(c.keys[other].hash).find(&c.keys[other])
		c.found[other] = at != nil
		return
	}
	s.loadName(c, other, charge.Meter, st)
	if !st.Counts(charge.Meter, e.Now) {
		*st = algo.State{Runs: st.Runs[:0]}
	}
}

// takesOver tells whether charge i, if its state is stored, gets the place of its
// twin: the key is not stored, and the twin is and will be forgotten.
func (c *call) takesOver(e *weir.Entry, i int) bool {
	how := e.Charges[i].Twinning
	return (how == weir.TwinNext || how == weir.TwinOld) && !c.found[i] && c.found[c.twinOf[i]]
}

// putTwin does to a charge's twin what its twinning asks for once the state has
// changed: keeps it in step, or forgets it. takenOver says that its place was
// the key's to take.
func (s *Store) putTwin(w *write, how weir.Twinning, takenOver bool) {
	if how == weir.TwinLast {
		s.put(w)
		return
	}
	sh := s.shardOf(w.key.hash)
	at, n := sh.find(w.key)
	switch {
	case at == nil:
	case takenOver && w.state.Used > 0:
		sh.detach(w.key.table(), n)
	default:
		sh.drop(w.key.table(), n)
	}
}
