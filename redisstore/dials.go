package redisstore

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/weirlimit/weir"
)

const (
	// dialsPerSpan dials may start within dialSpan while none has worked.
	dialsPerSpan = 2
	dialSpan     = time.Second
	// dialGap is the least time between the starts of two dials once one has
	// failed, and up to a fifth more: servers that come back are not met by all
	// their clients at once.
	dialGap = 510 * time.Millisecond
	// dialWait is how long one that would be too many waits for what becomes of
	// those under way: as a rule they work, a millisecond later.
	dialWait = 50 * time.Millisecond
	// maxInside bounds the dials under way to a server that answers none.
	maxInside = 4
	// maxDoors bounds the servers that are remembered.
	maxDoors = 1024
)

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

// luck is how dials went.
type luck struct {
	unproven int                     // started since one worked
	starts   [dialsPerSpan]time.Time // of the last, the oldest first
	failed   error                   // of the last one that ended
	until    time.Time               // if it failed: none before
}

// may tells whether another dial may start; if not, err says why, or is nil
// while there is nothing to say yet.
func (l *luck) may(now time.Time) (ok bool, err error) {
	ok = !now.Before(l.until) && (l.unproven < dialsPerSpan || !now.Before(l.starts[0].Add(dialSpan)))
	return ok, l.failed
}

func (l *luck) start(now time.Time) {
	copy(l.starts[:], l.starts[1:])
	l.starts[dialsPerSpan-1] = now
	l.unproven++
}

func (l *luck) end(began time.Time, err error) {
	if err == nil {
		*l = luck{}
		return
	}
	l.failed, l.until = err, began.Add(dialGap+time.Duration(rand.Int64N(int64(dialGap/5))))
}

// try runs a dial, or fails like the last one when that is too short a while
// ago. A dial that wants a primary fails with CodeReadOnly when it met none:
// then others may still ask that server.
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
		return err
	}
	err = dial()
	d.leave(began, primary, err)
	return err
}

// enter notes a dial, or says why there must be none: something to wait for, or
// an error.
func (d *door) enter(now time.Time, primary bool) (wait <-chan struct{}, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ok, err := d.mu.reach.may(now)
	if ok && primary {
		ok, err = d.mu.primary.may(now)
	}
	switch {
	case ok && d.mu.inside < maxInside:
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

func (d *door) leave(began time.Time, primary bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.inside--
	if d.mu.resolved != nil {
		close(d.mu.resolved)
		d.mu.resolved = nil
	}
	if primary {
		d.mu.primary.end(began, err)
		if isReadOnly(err) {
			err = nil // it was reached
		}
	}
	d.mu.reach.end(began, err)
}
