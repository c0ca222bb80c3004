package redisstore

import (
	"strings"
	"time"

	"github.com/weirlimit/weir"
)

// fly makes one round trip for the items of f and answers them. It returns
// false when the shard should rest before the next.
func (s *shard) fly(f *flight) bool {
	// First of all a connection: what is given up while one is dialled is not
	// sent.
	n, err := s.acquire(s.store.base)
	if err != nil {
		return s.ground(f, err)
	}
	defer n.release()
	if n := f.build(f.items, s.keyCap.get()); n < len(f.items) {
		s.putBack(f, n)
	}
	if len(f.groups) == 0 { // every one of them was given up
		s.abandon(f)
		return true
	}
	if f.items[0].declared {
		return s.flyDeclared(f)
	}
	sc, inArgs := s.store.script()
	f.encode()
	began := time.Now()
	return s.settle(f, began, s.eval(n, sc, f, inArgs, began))
}

// script is that of flights, and whether it gets its keys as arguments.
func (s *Store) script() (sc *script, inArgs bool) {
	if s.follow != nil {
		return &s.scripts.anySlot, true
	}
	return &s.scripts.declared, false
}

// settle ends a flight that was sent, or failed to be.
func (s *shard) settle(f *flight, began time.Time, err error) bool {
	took := time.Since(began)
	if err == nil {
		err = f.read()
	}
	if err != nil {
		return s.crash(f, err, took)
	}
	s.land(f, began, took)
	return true
}

// abandon ends a flight with nothing to send.
func (s *shard) abandon(f *flight) {
	for _, it := range s.detach(f) {
		s.forget(it)
		it.holder.dropped()
	}
}

// ground deals with a flight that has no connection.
func (s *shard) ground(f *flight, err error) bool {
	f.reset()
	for _, it := range f.items {
		f.next = append(f.next, -1)
		it.state.CompareAndSwap(queued, flying)
	}
	return s.crash(f, err, 0)
}

// eval runs the script for f on the shard's node.
func (s *shard) eval(n *sharedNode, sc *script, f *flight, inArgs bool, began time.Time) error {
	err := s.store.evalOn(n.node, sc, f, inArgs, false, began)
	if err != nil {
		s.retireAfter(n, err)
	}
	return err
}

// retireAfter retires a node whose connection broke, or that takes no writes.
func (s *shard) retireAfter(n *sharedNode, err error) {
	if _, isReply := replyText(err); !isReply || isReadOnly(err) {
		s.retire(n)
	}
}

func isReadOnly(err error) bool {
	if err == nil {
		return false
	}
	e, _ := classify(err)
	return e.Code == weir.CodeReadOnly
}

// evalOn runs the script for f, loading it where it is missing. asking announces
// that the caller was sent there by an ASK.
func (s *Store) evalOn(n *node, sc *script, f *flight, inArgs, asking bool, began time.Time) error {
	l, err := n.borrow(s.base)
	if err != nil {
		return err
	}
	command := f.command(sc, inArgs)
	return s.conclude(n, l, sc, f, asking, l.eval(began, command, f, asking))
}

// conclude is given the outcome of a script's call: it loads one that is missing and
// calls it again, and ends the use of the link.
func (s *Store) conclude(n *node, l *link, sc *script, f *flight, asking bool, err error) error {
	if isNoScript(err) {
		if err = n.load(s.base, sc); err == nil {
			err = l.eval(time.Now(), f.wire, f, asking)
		}
	}
	if err == nil {
		n.giveBack(l)
		return nil
	}
	if _, isReply := replyText(err); isReply {
		n.giveBack(l)
	} else {
		l.close()
	}
	return err
}

func isNoScript(err error) bool {
	text, ok := replyText(err)
	return ok && strings.HasPrefix(text, "NOSCRIPT")
}

// land answers the items of a flight from the script's answer.
func (s *shard) land(f *flight, began time.Time, took time.Duration) {
	items := s.detach(f)
	s.recovered(f, items, began.Sub(s.store.start)+took, took)
	s.keyCap.observe(f.size(), f.spent(took))
	var elsewhere []*item
	s.store.answering()
	next := landing{f: f}
	for gi := range f.groups {
		g := &f.groups[gi]
		if !f.reachable(g) {
			elsewhere = append(elsewhere, s.divert(f, g, items)...)
			continue
		}
		for i := g.head; i >= 0; i = f.next[i] {
			if next.push(g, items[i], i == g.head) {
				items[i] = nil
			}
		}
	}
	next.flush()
	s.store.answered()
	f.audit(next.admitted)
	s.report(f, took, next.late, nil)
	for i, it := range items {
		if it != nil { // given up, and not diverted
			it.holder.dropped()
			items[i] = nil
		}
	}
	if len(elsewhere) > 0 {
		s.store.follow.poke()
		for _, it := range elsewhere {
			s.store.resend(it)
		}
	}
}

// answering and answered stand around the answers of a flight.
func (s *Store) answering() {
	if hook := s.opts.Hooks.Answering; hook != nil {
		hook()
	}
}

func (s *Store) answered() {
	if hook := s.opts.Hooks.Answered; hook != nil {
		hook()
	}
}

// divert takes out the items of a group whose keys are not on this node: they
// have not run, and go out again with declared keys, which Redis can redirect.
func (s *shard) divert(f *flight, g *group, items []*item) []*item {
	var out []*item
	for i := g.head; i >= 0; i = f.next[i] {
		it := items[i]
		if !it.state.CompareAndSwap(flying, queued) {
			continue
		}
		it.cause = &weir.Error{Code: weir.CodeMoved, Message: "the key's slot is on another node"}
		it.declared = true
		out = append(out, it)
		items[i] = nil
	}
	return out
}

// audit compares what the script admitted with what was just computed. They
// are the same function in two languages; a difference means that a stored
// value was damaged, or a bug, and must not stay unseen.
func (f *flight) audit(admitted int64) {
	bad := f.corrupt
	if admitted != f.admitted {
		bad++
	}
	if bad > 0 {
		f.store.lost(weir.LossCorruptState, bad)
	}
}

// crash deals with a flight that failed as a whole. It returns false when the
// shard should rest.
func (s *shard) crash(f *flight, err error, took time.Duration) bool {
	e, again := classify(err)
	items := s.detach(f)
	s.report(f, took, 0, e)
	s.store.noticed(e)
	closed, held := s.store.closed.Load(), isHeld(err)
	for _, it := range items {
		it.held = held
	}
	if again && !closed {
		s.again(items, e)
		return false
	}
	answer := e
	if closed {
		answer = closedError()
	}
	n := len(items)
	var t tally
	t.flew(f, s.perFlight)
	claimed := items[:0]
	for _, it := range items {
		if !it.claim() {
			t.forgot(it)
			it.holder.dropped()
			continue
		}
		if held && it.probe.Probe() {
			t.forgot(it)
		}
		t.missed(it, answer.Code) // unless it was
		claimed = append(claimed, it)
	}
	// Before they are answered: who asks again at once meets the breaker.
	s.learn(s.store.now(), &t, answer)
	for _, it := range claimed {
		it.fail(answer)
		it.holder.dropped()
	}
	if mayHaveRun(e) {
		s.store.lost(weir.LossUncertain, n)
	}
	return e.Code != weir.CodeRefused
}

// mayHaveRun tells the failures after which nobody knows.
func mayHaveRun(e *weir.Error) bool {
	return e.Code == weir.CodeTimeout || e.Code == weir.CodeRefused || e.Code == weir.CodeProtocol
}

// recovered notes that Redis answered, before the callers learn of it.
func (s *shard) recovered(f *flight, items []*item, now, took time.Duration) {
	var t tally
	t.flew(f, s.perFlight)
	for _, it := range items {
		t.passed(it, now, s.store.opts.slow)
	}
	s.mu.Lock()
	s.mu.down = nil
	s.mu.pace.observe(took, f.spent(took))
	r := s.learnLocked(now, &t, slowError)
	s.mu.Unlock()
	r.answer(s.store)
}

func (s *shard) report(f *flight, took time.Duration, late int, e *weir.Error) {
	if late > 0 {
		s.store.lost(weir.LossLateAnswer, late)
	}
	hook := s.store.opts.Hooks.StoreCall
	if hook == nil {
		return
	}
	c := weir.StoreCall{
		Shard: s.addr, Entries: len(f.next), Groups: len(f.groups), Keys: f.size(),
		Took: took, Script: f.script,
	}
	if e != nil {
		c.Err, c.Script = e, 0
	}
	hook(c)
}

func (s *Store) lost(kind weir.Loss, n int) {
	if s.opts.Hooks.Lost != nil && n > 0 {
		s.opts.Hooks.Lost(kind, n)
	}
}
