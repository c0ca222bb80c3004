package redisstore

import (
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/weirlimit/weir"
)

const (
	// While none works, dialBurst dials may start at once and one more each
	// dialGap: in T seconds at most 2 + T/0.51, which is 3 within any second and
	// two a second over a longer while.
	dialBurst = 2
	dialGap   = 510 * time.Millisecond
	// dialSoon is the gap before the second one of a burst when the first has
	// failed already. At once it would fail like the first; later it meets a
	// server that was away for a moment.
	dialSoon = 150 * time.Millisecond
	// dialRest is how long after the last dial there may be a burst again.
	dialRest = 2 * dialGap
	// To each gap up to a fifth is added: servers that come back are not met by
	// all their clients at once.
	dialJitter = 5
	// dialWait is how long one that would be too many waits for what becomes of
	// those under way: as a rule they work, a millisecond later.
	dialWait = 50 * time.Millisecond
	// maxInside bounds the dials under way to a server that answers none.
	maxInside = 4
	// maxDoors bounds the servers that are remembered.
	maxDoors = 1024
)

// heldError is a dial that was not made because of those before: it says nothing
// new about the server. It fails like the last one.
type heldError struct{ err error }

func (e *heldError) Error() string { return e.err.Error() }
func (e *heldError) Unwrap() error { return e.err }

func isHeld(err error) bool {
	_, held := errors.AsType[*heldError](err)
	return held
}

// dials keeps the store from knocking at closed doors. Connections are made by
// flights, by the client library for its pool, and by those who follow the
// topology, and none of them knows of the others' luck.
type dials struct {
	mu struct {
		sync.Mutex
		doors map[string]*door
	}
}

func newDials() *dials {
	d := &dials{}
	d.mu.doors = make(map[string]*door)
	return d
}

func (d *dials) door(addr string) *door {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.mu.doors[addr]
	if known != nil {
		return known
	}
	if len(d.mu.doors) >= maxDoors { // most are of servers long gone
		clear(d.mu.doors)
	}
	known = new(door)
	d.mu.doors[addr] = known
	return known
}

// door is what is known of one address.
type door struct {
	mu struct {
		sync.Mutex
		inside   int           // dials under way
		reach    luck          // of all dials
		primary  luck          // of those that want a primary
		resolved chan struct{} // closed when a dial ends; nil when nobody waits
	}
}

// luck is how dials went since one worked.
type luck struct {
	burst  int       // started since the last rest
	last   time.Time // start of the last
	late   time.Duration
	failed error // of the last one that ended
}

// due is when the next dial may start.
func (l *luck) due() time.Time {
	switch {
	case l.burst == 0, l.burst < dialBurst && l.failed == nil:
		return time.Time{}
	case l.burst < dialBurst:
		return l.last.Add(dialSoon + l.late/3)
	}
	return l.last.Add(dialGap + l.late)
}

// rested is when a burst may start.
func (l *luck) rested() time.Time {
	if l.burst == 0 {
		return time.Time{}
	}
	return l.last.Add(dialRest)
}

func (l *luck) start(now time.Time) {
	if !now.Before(l.rested()) {
		l.burst = 0
	}
	l.burst = min(l.burst+1, dialBurst)
	l.last, l.late = now, time.Duration(rand.Int64N(int64(dialGap/dialJitter)))
}

func (l *luck) end(err error) {
	if err == nil {
		*l = luck{}
		return
	}
	l.failed = err
}

// dueLocked is when a dial may start, and why not before; nil while there is
// nothing to say yet. Who follows the topology leaves a server that others want
// for its data to them, except after a rest: there are other servers to ask.
func (d *door) dueLocked(primary bool) (at time.Time, why error) {
	at, why = d.mu.reach.due(), d.mu.reach.failed
	switch {
	case primary:
		if t := d.mu.primary.due(); t.After(at) {
			at, why = t, d.mu.primary.failed
		}
	case d.mu.primary.burst > 0:
		at = d.mu.reach.rested()
	}
	return at, why
}

// mayDial tells whether a dial that wants a primary would be made now.
func (d *door) mayDial(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, _ := d.dueLocked(true)
	return !now.Before(at) && d.mu.inside < maxInside
}

// try runs a dial, or fails like the last one, with a heldError, when that is too
// short a while ago. A dial that wants a primary fails with CodeReadOnly when it
// met none: then others may still ask that server.
func (d *door) try(primary bool, dial func() error) error {
	began := time.Now()
	wait, err := d.enter(began, primary)
	if wait != nil {
		timer := time.NewTimer(dialWait)
		defer timer.Stop()
		select {
		case <-wait:
		case <-timer.C:
		}
		began = time.Now()
		if wait, err = d.enter(began, primary); wait != nil {
			err = &notSentError{&weir.Error{Code: weir.CodeRefused, Message: "redis: others wait for a connection already"}}
		}
	}
	if err != nil {
		return &heldError{err}
	}
	err = dial()
	d.leave(primary, err)
	return err
}

// enter notes a dial, or says why there must be none: something to wait for, or
// an error.
func (d *door) enter(now time.Time, primary bool) (wait <-chan struct{}, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, err := d.dueLocked(primary)
	switch {
	case !now.Before(at) && d.mu.inside < maxInside:
		d.mu.inside++
		d.mu.reach.start(now)
		if primary {
			d.mu.primary.start(now)
		}
		return nil, nil
	case err != nil:
		return nil, err
	case d.mu.resolved == nil:
		d.mu.resolved = make(chan struct{})
	}
	return d.mu.resolved, nil
}

func (d *door) leave(primary bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.inside--
	if d.mu.resolved != nil {
		close(d.mu.resolved)
		d.mu.resolved = nil
	}
	if primary {
		d.mu.primary.end(err)
		if isReadOnly(err) {
			err = nil // it was reached
		}
	}
	d.mu.reach.end(err)
}
