package redisstore

import (
	"strings"
	"time"

	"github.com/redis/rueidis"

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
	keys, blob := f.encode()
	began := time.Now()
	reply, err := s.chase(keys, blob)
	took := time.Since(began)
	if err == nil {
		err = f.read(&reply)
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
func (s *shard) chase(keys []string, blob string) (rueidis.RedisMessage, error) {
	st := s.store
	addr, asking := "", false
	var reply rueidis.RedisMessage
	var err error
	for range maxRedirects {
		reply, err = s.evalAt(addr, keys, blob, asking)
		to, ask, redirected := redirect(err)
		if !redirected {
			return reply, err
		}
		if !ask {
			st.follow.poke()
		}
		addr, asking = to, ask
	}
	return reply, err
}

// evalAt runs the script on another shard's node, or on this one's for "".
func (s *shard) evalAt(addr string, keys []string, blob string, asking bool) (rueidis.RedisMessage, error) {
	if addr == "" || addr == s.addr && !asking {
		return s.eval(s.store.scripts.declared, keys, blob, false)
	}
	for _, other := range s.store.topo.Load().shards {
		if other.addr != addr {
			continue
		}
		n, err := other.acquire(s.store.base)
		if err != nil {
			return rueidis.RedisMessage{}, err
		}
		defer n.release()
		return s.store.evalOn(n.node, s.store.scripts.declared, keys, blob, false, asking)
	}
	// A node we have not met: the next topology has it.
	return rueidis.RedisMessage{}, &notSentError{&weir.Error{Code: weir.CodeMoved, Message: "redirected to an unknown node " + addr}}
}

// redirect reads MOVED and ASK errors: "MOVED 3999 127.0.0.1:6381".
func redirect(err error) (addr string, asking, ok bool) {
	if err == nil {
		return "", false, false
	}
	re, isReply := rueidis.IsRedisErr(err)
	if !isReply {
		return "", false, false
	}
	words := strings.Fields(re.Error())
	if len(words) != 3 || words[0] != "MOVED" && words[0] != "ASK" {
		return "", false, false
	}
	return words[2], words[0] == "ASK", true
}
