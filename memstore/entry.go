package memstore

import (
	"hash/maphash"
	"slices"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// call is the memory in which one entry is decided. It is kept for reuse: what
// refers to the caller's memory is cleared when the entry is done.
type call struct {
	keys    [maxNames]key // of the charges, then their twins
	digests [maxNames]digest
	found   [maxNames]bool // whether a key is stored
	names   int            // keys in use
	twinOf  [weir.MaxCharges]uint8
	states  [weir.MaxCharges]algo.State
	shards  []uint32 // the numbers of the shards to lock, ascending, each once

	owner    algo.Owner // who acquires concurrency
	replay   algo.Owner // whose answer is remembered, if replays
	replays  bool
	replayAt uint64 // the hash of replay
	scratch  []byte
	evicted  int
}

// decideEntry decides e at now and fills in its answer.
func (s *Store) decideEntry(e *weir.Entry, now weir.Micros) {
	if err := e.Validate(); err != nil {
		fail(e, err)
		return
	}
	n := len(e.Charges)
	e.Outcomes = slices.Grow(e.Outcomes[:0], n)[:n]
	e.Now, e.Replayed, e.Err = now, false, nil
	var err error
	if c := &e.Charges[0]; n == 1 && c.Twinning == weir.TwinNone && (e.ID == "" || c.Meter.Machine == weir.Slots) {
		err = s.decideOne(e)
	} else {
		err = s.decideAll(e)
	}
	if err != nil {
		fail(e, err)
	}
}

// decideAll decides an entry of any kind.
func (s *Store) decideAll(e *weir.Entry) error {
	home := s.shardOf(maphash.String(s.seed, e.Charges[0].Key))
	c := home.spare.Swap(nil)
	if c == nil {
		c = s.calls.Get().(*call)
	}
	defer s.keep(c, home)
	s.prepare(c, e)
	for attempt := range attempts {
		res := s.attempt(c, e, attempt > 0)
		s.evicted(c.evicted)
		switch res {
		case decided:
			return nil
		case noRoom:
			if int64(c.names) > s.maxKeys {
				return errFull() // whatever others give up
			}
			s.makeRoom(e.Now, attempt)
		case isClosed:
			return errClosed()
		}
	}
	return errFull()
}

// keep makes c ready for another entry.
func (s *Store) keep(c *call, home *shard) {
	clear(c.keys[:c.names])
	if !home.spare.CompareAndSwap(nil, c) {
		s.calls.Put(c)
	}
}

// prepare works out what can be known before any lock is taken.
func (s *Store) prepare(c *call, e *weir.Entry) {
	c.shards = c.shards[:0]
	c.owner = algo.Owner{}
	c.names = len(e.Charges)
	slots := false
	for i := range e.Charges {
		s.name(c, i, e.Charges[i].Key)
		if e.Charges[i].Twinning != weir.TwinNone {
			c.twinOf[i] = uint8(c.names)
			s.name(c, c.names, e.Charges[i].Twin)
			c.names++
		}
		slots = slots || e.Charges[i].Meter.Machine == weir.Slots
	}
	if slots {
		c.owner = algo.OwnerOf(e.ID)
	}
	c.replay, c.replays, c.scratch = algo.ReplayOwner(e, c.scratch)
	if c.replays {
		c.replayAt = maphash.Bytes(s.seed, c.replay[:])
		c.shards = append(c.shards, uint32(c.replayAt>>s.shift))
	}
	if len(c.shards) > 1 {
		slices.Sort(c.shards)
		c.shards = slices.Compact(c.shards)
	}
}

// name makes a text the entry's n-th key.
func (s *Store) name(c *call, n int, text string) {
	c.keys[n] = makeKey(s.seed, text, &c.digests[n])
	c.shards = append(c.shards, uint32(c.keys[n].hash>>s.shift))
}

// attempt decides with every shard locked. Unless it returns decided it charged
// nothing.
func (s *Store) attempt(c *call, e *weir.Entry, force bool) result {
	c.evicted = 0
	for _, n := range c.shards {
		s.shards[n].mu.Lock()
	}
	defer s.unlock(c)
	if s.shards[c.shards[0]].closed {
		return isClosed
	}
	if c.replays && s.answerAgain(c, e) {
		return decided
	}
	s.load(c, e)
	n := len(e.Charges)
	admitted := algo.Settle(e.Charges, c.owner, c.states[:n], e.Now, e.Outcomes)
	if !s.places(c, e, force) {
		return noRoom
	}
	s.write(c, e)
	e.Admitted = admitted
	if c.replays && algo.Remembered(admitted, e.Outcomes) {
		sh := s.shardOf(c.replayAt)
		sh.counts.forgotten += uint64(sh.replay.add(s.seed, ownerTag(c.replayAt), &c.replay, e.Now, e.Outcomes))
	}
	return decided
}

func (s *Store) unlock(c *call) {
	for _, n := range c.shards {
		s.shards[n].mu.Unlock()
	}
}

// answerAgain gives e the answer that is remembered for it, if there is one.
func (s *Store) answerAgain(c *call, e *weir.Entry) bool {
	sh := s.shardOf(c.replayAt)
	a := sh.replay.find(ownerTag(c.replayAt), &c.replay, e.Now)
	if a == nil {
		return false
	}
	e.Now = a.now()
	b := a.outcomes()
	for i := range e.Outcomes {
		b = readOutcome(b, &e.Outcomes[i], e.Now)
	}
	e.Admitted, e.Replayed = algo.Passes(e.Charges, e.Outcomes), true
	sh.counts.replayed++
	return true
}

// load reads the states of the entry's keys.
func (s *Store) load(c *call, e *weir.Entry) {
	for i := range e.Charges {
		if e.Charges[i].Twinning != weir.TwinNone {
			s.loadTwins(c, e, i)
			continue
		}
		s.loadName(c, i, e.Charges[i].Meter, &c.states[i])
	}
}

// loadName reads what is stored under the entry's n-th key.
func (s *Store) loadName(c *call, n int, m *weir.Meter, st *algo.State) {
	*st = algo.State{Runs: st.Runs[:0]}
	sh := s.shardOf(c.keys[n].hash)
	at, _ := sh.find(&c.keys[n])
	c.found[n] = at != nil
	if at != nil {
		sh.load(at, m, st)
	}
}

// places reserves a place for every key that has to be stored anew, or for none.
func (s *Store) places(c *call, e *weir.Entry, force bool) bool {
	got := 0
	for i := range e.Charges {
		st := &c.states[i]
		if !st.Dirty || st.Used == 0 {
			continue
		}
		ok := c.found[i] || c.takesOver(e, i) || s.place(c, i, e.Now, force, &got)
		if ok && e.Charges[i].Twinning == weir.TwinLast {
			n := int(c.twinOf[i])
			ok = c.found[n] || s.place(c, n, e.Now, force, &got)
		}
		if !ok {
			s.keys.Add(-int64(got))
			return false
		}
	}
	return true
}

// place reserves one for the entry's n-th key and counts it in got.
func (s *Store) place(c *call, n int, now weir.Micros, force bool, got *int) bool {
	k := &c.keys[n]
	ok, evicted := s.shardOf(k.hash).room(k, now, force, c.keys[:c.names])
	if ok {
		*got++
	}
	if evicted {
		c.evicted++
	}
	return ok
}

// write stores the states that changed. Making places and writing move cells, so
// each is looked up again.
func (s *Store) write(c *call, e *weir.Entry) {
	for i := range e.Charges {
		if !c.states[i].Dirty {
			continue
		}
		w := write{
			key: &c.keys[i], meter: e.Charges[i].Meter, state: &c.states[i],
			expiry: e.Now + e.Outcomes[i].ResetAfter,
		}
		s.put(&w)
		if how := e.Charges[i].Twinning; how != weir.TwinNone {
			w.key = &c.keys[c.twinOf[i]]
			s.putTwin(&w, how, c.takesOver(e, i))
		}
	}
}

func (s *Store) put(w *write) {
	sh := s.shardOf(w.key.hash)
	if at, n := sh.find(w.key); at != nil {
		sh.update(w, at, n)
	} else if w.state.Used > 0 {
		sh.insert(w)
	}
}
