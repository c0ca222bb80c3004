package redisstore

import (
	"errors"
	"os"
	"slices"
	"sync"
	"time"
)

// standby is what a flight with nothing to do has ready. Its goroutine waits for the
// answer to a question that nobody has asked yet. Who queues an entry that is worth a
// call then builds the flight and sends it there and then: to wake a goroutine for
// that would cost a request that comes alone more than its decision.
type standby struct {
	node *sharedNode
	link *link
	away bool  // another has taken its items and sends them; set with the shard's mu while it is ready
	read error // what became of the waiting, once it is away

	lead sync.Mutex // of who sends, until it has: it leaves what follows
	sent struct {
		began time.Time
		rest  []byte // of the command, that there was no room for
		err   error  // why it was not sent
	}
}

// fewAboard is how many items a flight had at most that stands by after it. Where
// more come together it waits to be woken: while it is, still more come.
const fewAboard = 4

// Why a flight is not sent: its items were all given up; or to build it panicked,
// which is then for its own goroutine to do, where nobody recovers it.
var (
	errNobody  = errors.New("nobody waits for it")
	errUnbuilt = &notSentError{errors.New("it could not be built")}
)

// standLocked waits on standby, without the lock, until f is away and answered, or
// something is to be done that only its goroutine can do, or nothing for long.
func (s *shard) standLocked(f *flight) {
	s.mu.Unlock()
	ok := s.equip(f)
	s.mu.Lock()
	if ok {
		s.awaitLocked(f)
	}
}

// awaitLocked is standLocked for a flight that has its connection. The node may have
// been left since: nobody dismisses a flight that is not ready yet.
func (s *shard) awaitLocked(f *flight) {
	err := error(nil)
	if s.mu.closed == nil && s.readyLocked() == 0 && !f.stand.node.isRetired() {
		s.mu.ready = append(s.mu.ready, f)
		s.mu.Unlock()
		err = f.found.readFrom(f.stand.link)
		s.mu.Lock()
		if f.stand.away {
			f.stand.read = err
			return
		}
		s.mu.ready = slices.DeleteFunc(s.mu.ready, func(r *flight) bool { return r == f })
		if err == nil { // it answered what nobody had asked
			err = errMalformed
		}
	}
	s.mu.Unlock()
	s.unequip(f, err)
	s.mu.Lock()
}

// equip finds a connection for standby: one that there is, and that can be written
// without waiting.
func (s *shard) equip(f *flight) bool {
	n := s.linkedNode()
	if n == nil {
		return false
	}
	l := n.idle()
	if l == nil || l.quick == nil {
		if l != nil {
			n.giveBack(l)
		}
		n.release()
		return false
	}
	f.stand.node, f.stand.link = n, l
	return true
}

// unequip ends a standby in which nothing was sent.
func (s *shard) unequip(f *flight, err error) {
	n, l := f.stand.node, f.stand.link
	f.stand.node, f.stand.link = nil, nil
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded): // that of the call before, or rouse's
		l.roused()
		n.giveBack(l)
	case err == nil:
		n.giveBack(l)
	default: // it is gone: better known now than by the next who asks
		l.close()
		s.retire(n)
	}
	n.release()
}

// boardLocked moves what waits into a flight on standby, which the caller is to send.
// What may be redirected is left to the flight's own goroutine.
func (s *shard) boardLocked() *flight {
	n := s.readyLocked()
	if n == 0 {
		return nil
	}
	last := len(s.mu.ready) - 1
	f := s.mu.ready[last]
	s.mu.ready[last], s.mu.ready = nil, s.mu.ready[:last]
	if s.mu.queue[0].declared {
		f.stand.link.rouse()
		return nil
	}
	f.stand.away = true
	f.stand.lead.Lock() // nobody has it
	s.loadLocked(f, n)
	return f
}

// dismissLocked ends the standby of the flights that are ready on a node, or on any.
func (s *shard) dismissLocked(n *sharedNode) {
	s.mu.ready = slices.DeleteFunc(s.mu.ready, func(f *flight) bool {
		if n != nil && f.stand.node != n {
			return false
		}
		f.stand.link.rouse()
		return true
	})
}

// depart sends a flight that wakeLocked returned, or none. It does not wait.
func (s *shard) depart(f *flight) {
	if f == nil {
		return
	}
	f.stand.sent.err = errUnbuilt
	defer func() {
		if f.stand.sent.err != nil || len(f.stand.sent.rest) > 0 {
			f.stand.link.rouse()
		}
		f.stand.lead.Unlock()
	}()
	f.stand.sent.err = s.send(f)
}

func (s *shard) send(f *flight) (err error) {
	f.stand.sent.rest = nil
	if n := f.build(f.items, s.keyCap.get()); n < len(f.items) {
		s.putBack(f, n)
	}
	f.stand.sent.began = time.Now()
	if len(f.groups) == 0 {
		return errNobody
	}
	f.encode()
	f.stand.sent.rest, err = f.stand.link.send(f.stand.sent.began, f.command(s.store.script()))
	return err
}

// arrive is fly for a flight that another has sent.
func (s *shard) arrive(f *flight) bool {
	f.stand.lead.Lock() // it may not be quite done
	n, l := f.stand.node, f.stand.link
	f.stand.away, f.stand.node, f.stand.link = false, nil, nil
	f.stand.lead.Unlock()
	defer n.release()
	if f.stand.sent.err == errNobody {
		l.roused()
		n.giveBack(l)
		s.abandon(f)
		return true
	}
	err := s.answerOf(f, l)
	sc, _ := s.store.script()
	if err = s.store.conclude(n.node, l, sc, f, false, err); err != nil {
		s.retireAfter(n, err)
	}
	return s.settle(f, f.stand.sent.began, err)
}

// answerOf reads what is left to be read of a flight that another has sent, and
// sends what is left of that.
func (s *shard) answerOf(f *flight, l *link) error {
	if f.stand.sent.err != nil {
		return f.stand.sent.err
	}
	if len(f.stand.sent.rest) > 0 {
		l.roused()
		_ = l.extend(f.stand.sent.began)                                 // where that fails, so does what follows
		if _, err := l.plain.Conn.Write(f.stand.sent.rest); err != nil { // not by plain: a part has been sent
			return err
		}
		return f.found.readFrom(l)
	}
	// The deadline of the call before may have ended the waiting just when the
	// sender set the one of this.
	if errors.Is(f.stand.read, os.ErrDeadlineExceeded) && len(f.found.buf) == 0 && time.Now().Before(l.until) {
		return f.found.readFrom(l)
	}
	return f.stand.read
}
