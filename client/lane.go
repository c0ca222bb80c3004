package client

import (
	"sync"
	"time"

	"github.com/weirlimit/weir"
)

const (
	// stallAfter unanswered checks in a row nobody waits for the stream any more,
	stallAfter = 32
	// but for a check in so many ticks, to see whether it is back.
	probeEvery tick = 50
)

// state is what is known of a lane's stream; see the package comment.
type state uint8

const (
	starting state = iota
	up
	down
	closed
)

// lane is one stream and the checks that are on it.
type lane struct {
	client *Client
	filled chan struct{} // the queue has something, or the writer should look up
	armed  chan struct{} // the wheel has something
	empty  chan struct{} // nothing is outstanding, after close

	ready []answered // the receiver's

	mu struct {
		sync.Mutex
		state       state
		rolling     bool    // the stream is to end in good order, and another to be made
		calls       []*call // by slot
		free        []*call
		queue       []*call // oldest first
		wheel       wheel   // all calls that wait for an answer
		watched     bool    // somebody looks at the wheel
		outstanding int
		missed      int  // checks in a row that had no answer
		probe       tick // when stalled: the next check to be sent
	}
}

func newLane(c *Client) *lane {
	return &lane{
		client: c, filled: make(chan struct{}, 1), armed: make(chan struct{}, 1), empty: make(chan struct{}, 1),
	}
}

// The reasons for which a check is not sent or not waited for.
var (
	errDown     = &weir.Error{Code: weir.CodeRefused, Message: "there is no stream to the server"}
	errBroke    = &weir.Error{Code: weir.CodeRefused, Message: "the stream to the server broke"}
	errStalled  = &weir.Error{Code: weir.CodeTimeout, Message: "the server has stopped answering"}
	errTimeout  = &weir.Error{Code: weir.CodeTimeout, Message: "the server did not answer in time"}
	errOverload = &weir.Error{Code: weir.CodeOverload, Message: "too many checks are outstanding", Hint: "raise WithMaxOutstanding, or slow down"}
	errClosed   = &weir.Error{Code: weir.CodeClosed, Message: "the client was closed"}
)

// submit queues a check. It returns why not, and then nothing is kept of t.
func (l *lane) submit(t ticket, give time.Duration, due tick) error {
	l.mu.Lock()
	if err := l.refuseLocked(l.client.tickAt(t.began)); err != nil {
		l.mu.Unlock()
		return err
	}
	c := l.freeCallLocked()
	if c == nil {
		l.mu.Unlock()
		return errOverload
	}
	c.ticket, c.due, c.stage = t, due, queued
	// Who names a request has to know whether it took a place, to give it back.
	charges := l.client.charges || t.req.ID != ""
	c.asked.Fill(t.req, c.number, weir.Micros(give/time.Microsecond), charges)
	l.mu.wheel.add(c)
	l.mu.outstanding++
	l.mu.queue = append(l.mu.queue, c)
	first, watch := len(l.mu.queue) == 1, !l.mu.watched
	l.mu.watched = true
	l.mu.Unlock()
	if first {
		signal(l.filled)
	}
	if watch {
		signal(l.armed)
	}
	return nil
}

// refuseLocked tells why a check should not be sent now.
func (l *lane) refuseLocked(now tick) error {
	switch {
	case l.mu.state == closed:
		return errClosed
	case l.mu.state == down:
		return errDown
	case l.mu.missed < stallAfter:
		return nil
	case now < l.mu.probe:
		return errStalled
	}
	l.mu.probe = now + probeEvery
	return nil
}

func (l *lane) freeCallLocked() *call {
	if n := len(l.mu.free); n > 0 {
		c := l.mu.free[n-1]
		l.mu.free = l.mu.free[:n-1]
		return c
	}
	if len(l.mu.calls) == l.client.outstanding {
		return nil
	}
	c := &call{number: uint64(len(l.mu.calls))}
	l.mu.calls = append(l.mu.calls, c)
	return c
}

// detachLocked takes a call that waits out of the lane, for its ticket to be
// answered once the mutex is released.
func (l *lane) detachLocked(c *call) ticket {
	t := c.ticket
	c.ticket = ticket{}
	l.mu.wheel.remove(c)
	l.mu.outstanding--
	if l.mu.outstanding == 0 && l.mu.state == closed {
		signal(l.empty)
	}
	if c.stage == sent {
		l.freeLocked(c)
	} else {
		c.over = true
	}
	return t
}

// freeLocked makes a call that nobody has ready for another check.
func (l *lane) freeLocked(c *call) {
	c.stage, c.over = idle, false
	c.number += 1 << slotBits
	l.mu.free = append(l.mu.free, c)
}

// waitsLocked tells whether the call waits for the answer with that number.
func (c *call) waitsLocked(number uint64) bool {
	return c.number == number && c.stage != idle && !c.over
}

// signal wakes whoever waits on ch, or will.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
