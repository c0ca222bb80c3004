package redisstore

import (
	"time"

	"github.com/weirlimit/weir"
)

// maxRedirects bounds how often one entry is redirected in one attempt.
const maxRedirects = 4

// resend routes an item that was diverted: it is queued, in no queue, and has
// not run.
func (s *Store) resend(it *item) {
	if !it.state.CompareAndSwap(queued, building) {
		it.holder.dropped()
		return
	}
	charges := it.entry.Charges
	one := true
	for i := 1; i < len(charges); i++ {
		one = one && s.slotOf(charges[i].Key) == it.slot
	}
	if !one {
		it.state.Store(queued)
		s.split(it)
		return
	}
	sh := s.topo.Load().slots[it.slot]
	it.state.Store(queued)
	if sh == nil {
		s.refuse(it, it.cause)
		return
	}
	sh.enqueue(it)
}

// flyDeclared sends one item alone, with declared keys of one slot, and follows
// where Redis points.
func (s *shard) flyDeclared(f *flight) bool {
	f.encode()
	began := time.Now()
	err := s.chase(f, began)
	took := time.Since(began)
	if err == nil {
		err = f.read()
	}
	if err != nil {
		return s.crashDeclared(f, err, took)
	}
	s.land(f, began, took)
	return true
}

// crashDeclared is crash for a lone item: what keeps it from running is its
// slot's, as a rule, and no reason for the shard to rest.
func (s *shard) crashDeclared(f *flight, err error, took time.Duration) bool {
	e, again := classify(err)
	if !again || e.Code != weir.CodeMoved && e.Code != weir.CodeTryAgain || s.store.closed.Load() {
		return s.crash(f, err, took)
	}
	items := s.detach(f)
	s.report(f, took, 0, e)
	s.store.noticed(e)
	s.rest(items, e)
	return true
}

// chase runs the script where the keys are. MOVED, ASK and TRYAGAIN all mean
// that it has not run.
func (s *shard) chase(f *flight, began time.Time) (err error) {
	addr, asking := s.addr, false
	for range maxRedirects {
		err = s.evalAt(addr, f, asking, began)
		to, ask, redirected := redirect(err, addr)
		if !redirected {
			return err
		}
		if !ask {
			s.store.follow.poke()
		}
		addr, asking = to, ask
		began = time.Now()
	}
	return err
}

// evalAt runs the script on another shard's node, or on this one's.
func (s *shard) evalAt(addr string, f *flight, asking bool, began time.Time) error {
	sc := &s.store.scripts.declared
	if addr == s.addr && !asking {
		n, err := s.acquire(s.store.base)
		if err != nil {
			return err
		}
		defer n.release()
		return s.eval(n, sc, f, false, began)
	}
	for _, other := range s.store.topo.Load().shards {
		if other.addr != addr {
			continue
		}
		n, err := other.acquire(s.store.base)
		if err != nil {
			return err
		}
		defer n.release()
		return s.store.evalOn(n.node, sc, f, false, asking, began)
	}
	// A node we have not met: the next topology has it.
	return &notSentError{&weir.Error{Code: weir.CodeMoved, Message: "redirected to an unknown node " + addr}}
}
