package memstore

import (
	"hash/maphash"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// Take decides one Enforce charge that stands alone: what Submit does for an
// entry with this charge and no id, without the entry. The error is an *Error
// that names the field at fault, or says that the store is closed or full.
func (s *Store) Take(text string, m *weir.Meter, cost int64) (o weir.Outcome, err error) {
	if text == "" || len(text) > weir.MaxKeyBytes || m == nil || m.Den == 0 || cost < 0 || m.Machine == weir.Slots {
		return o, invalidCharge(weir.Charge{Key: text, Meter: m, Cost: cost})
	}
	var buf digest
	a := ask{meter: m, key: makeKey(s.seed, text, &buf), now: s.now()}
	sh := s.shardOf(a.key.hash)
	for attempt := range attempts {
		res := sh.take(&a, cost, &o)
		if res == decided {
			return o, nil
		}
		if again, err := s.after(res, &a, attempt); !again {
			return o, err
		}
	}
	return o, errFull()
}

// isPlain tells whether a charge that stands alone is one that Take would do for,
// and valid. Most are, and need not be looked at from all sides.
func isPlain(c *weir.Charge) bool {
	return c.Mode == weir.Enforce && c.Cost >= 0 && c.Key != "" && len(c.Key) <= maxStored &&
		c.Twinning == weir.TwinNone && c.Twin == "" && c.Meter != nil && c.Meter.Den != 0 && c.Meter.Machine != weir.Slots
}

// decidePlainEntry decides an entry of such a charge.
func (s *Store) decidePlainEntry(e *weir.Entry, now weir.Micros, hash uint64) {
	if cap(e.Outcomes) == 0 {
		e.Outcomes = make([]weir.Outcome, 1)
	}
	e.Outcomes = e.Outcomes[:1]
	e.Now, e.Replayed, e.Err = now, false, nil
	if err := s.decidePlain(&e.Charges[0], now, hash, &e.Outcomes[0]); err != nil {
		fail(e, err)
		return
	}
	e.Admitted = e.Outcomes[0].OK
}

// decidePlain decides such a charge. hash is that of its key, or 0.
func (s *Store) decidePlain(c *weir.Charge, now weir.Micros, hash uint64, o *weir.Outcome) error {
	if hash == 0 {
		hash = maphash.String(s.seed, c.Key)
	}
	var a ask // not in one literal: that would be made elsewhere, and copied
	a.key.text, a.key.hash, a.key.size = c.Key, hash, uint8(len(c.Key))
	a.meter, a.now = c.Meter, now
	sh := s.shardOf(hash)
	for attempt := range attempts {
		res := sh.take(&a, c.Cost, o)
		if res == decided {
			return nil
		}
		if again, err := s.after(res, &a, attempt); !again {
			return err
		}
	}
	return errFull()
}

// decideOne decides an entry of one charge whose answer is not remembered.
func (s *Store) decideOne(e *weir.Entry) error {
	c := &e.Charges[0]
	var buf digest
	a := ask{meter: c.Meter, key: makeKey(s.seed, c.Key, &buf), now: e.Now}
	owner := algo.OwnerOf(e.ID)
	sh := s.shardOf(a.key.hash)
	for attempt := range attempts {
		res := sh.settle(&a, e, owner)
		if res == decided {
			return nil
		}
		if again, err := s.after(res, &a, attempt); !again {
			return err
		}
	}
	return errFull()
}

// ask is a question about one key.
type ask struct {
	key   key
	meter *weir.Meter
	now   weir.Micros
	force bool // a live state may be evicted
}

// result is what came of an attempt to decide under a lock.
type result uint8

const (
	decided         result = iota
	decidedEvicting        // decided, and a live state gave way
	noRoom                 // nothing was charged: there is no room for a new key
	isClosed
)

// after does what has to follow an attempt, with no lock held. It tells whether
// to try again.
func (s *Store) after(res result, a *ask, attempt int) (again bool, err error) {
	switch res {
	case noRoom:
		s.makeRoom(a.now, attempt)
		a.force = true
		return true, nil
	case isClosed:
		return false, errClosed()
	}
	s.evicted(1)
	return false, nil
}

// take locks, and decides as algo.Decide does.
func (s *shard) take(a *ask, cost int64, o *weir.Outcome) result {
	if a.meter.Machine == weir.Bucket && s.takeBucket(a, cost, o) {
		return decided
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return isClosed
	}
	var st algo.State
	c, i := s.open(a, &st)
	algo.DecideInto(a.meter, &st, a.now, cost, algo.Owner{}, o)
	return s.finish(a, &st, o, c, i)
}

// settle locks, and decides as algo.Settle does for one charge.
func (s *shard) settle(a *ask, e *weir.Entry, owner algo.Owner) result {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return isClosed
	}
	var states [1]algo.State
	c, i := s.open(a, &states[0])
	e.Admitted = algo.Settle(e.Charges, owner, states[:], e.Now, e.Outcomes)
	return s.finish(a, &states[0], &e.Outcomes[0], c, i)
}

// open finds the key and reads its state. Runs are read into the shard's
// scratch.
func (s *shard) open(a *ask, st *algo.State) (cell, int) {
	if a.meter.Machine >= weir.Runs {
		st.Runs = s.runs[:0]
	}
	c, i := s.find(&a.key)
	if c != nil {
		s.load(c, a.meter, st)
	}
	return c, i
}

// finish stores a state if it changed: in cell i, or anew if there is none.
func (s *shard) finish(a *ask, st *algo.State, o *weir.Outcome, c cell, i int) result {
	if a.meter.Machine >= weir.Runs {
		s.runs = st.Runs[:0]
	}
	if !st.Dirty {
		return decided
	}
	w := write{key: &a.key, meter: a.meter, state: st, expiry: a.now + o.ResetAfter}
	if c != nil {
		s.update(&w, c, i)
		return decided
	}
	if st.Used == 0 {
		return decided
	}
	ok, evicted := s.room(&a.key, a.now, a.force, nil)
	if !ok {
		return noRoom
	}
	s.insert(&w)
	if evicted {
		return decidedEvicting
	}
	return decided
}

// invalidCharge is the error of the entry that holds the charge alone, or nil.
func invalidCharge(c weir.Charge) error {
	e := weir.Entry{Charges: []weir.Charge{c}}
	return e.Validate()
}
