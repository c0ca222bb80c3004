package fastlane

import (
	"runtime/debug"

	"google.golang.org/grpc/codes"
)

// due is a call whose request is complete and whose handler has not been called.
// Calls that are read together are served together: the lock is taken for all of
// them before, and for all their answers after.
type due struct {
	call *Call
	msg  []byte // part of what was read, or the call's own
	step Step   // what is left to do, once it was taken
}

// mostDue is how many calls may wait for the frames behind them: all but the
// first read of a busy connection has fewer.
const mostDue = 64

// abreast is how many of them are served by turns: so many can wait for their
// memory at once, and all that is held for them stays in the nearest cache.
const abreast = 8

// serveDueLocked calls the handlers of what is due, unlocked, and takes the
// answers that were given at once.
func (cn *conn) serveDueLocked() {
	if len(cn.due) == 0 {
		return
	}
	cn.mu.Unlock()
	gatherer := cn.server.o.Gatherer
	if len(cn.due) == 1 {
		gatherer = nil // one waits for nobody
	}
	if gatherer != nil {
		gatherer.Gather()
	}
	for from := 0; from < len(cn.due); from += abreast {
		some := cn.due[from:min(from+abreast, len(cn.due))]
		for _, turn := range [...]turn{taking, finding, fetching, running} {
			for next := 0; next < len(some); {
				next = cn.serveFrom(some, next, turn)
			}
		}
	}
	if gatherer != nil {
		gatherer.Gathered()
	}
	cn.mu.Lock()
	for i := range cn.due {
		if c := cn.due[i].call; c.turn.Load() == answeredAtOnce {
			cn.replyLocked(c, c.scratch)
		}
	}
	clear(cn.due)
	cn.due = cn.due[:0]
}

// turn is what is done for one call after the other.
type turn uint8

const (
	taking turn = iota
	finding
	fetching
	running
)

// serveFrom does it from one call on, up to the first whose handler panics, and
// returns which is next.
func (cn *conn) serveFrom(some []due, from int, t turn) (next int) {
	next = from
	defer func() {
		if v := recover(); v != nil {
			cn.panicked(some[next].call, v)
			some[next].step = nil
			next++
		}
	}()
	for ; next < len(some); next++ {
		d := &some[next]
		switch t {
		case taking:
			d.step = d.call.handler.Take(d.call, d.msg)
		case finding:
			if d.step != nil {
				d.step.Find()
			}
		case fetching:
			if d.step != nil {
				d.step.Fetch()
			}
		default:
			if d.step != nil {
				d.step.Run()
			}
			// Who answers after this takes the lock.
			if d.call.turn.Load() == serving {
				d.call.turn.CompareAndSwap(serving, returned)
			}
		}
	}
	return next
}

// panicked answers a call whose handler panicked. It is never used again: the
// handler may have given it to somebody.
func (cn *conn) panicked(c *Call, v any) {
	if h := cn.server.o.Hooks.Panicked; h != nil {
		h(v, debug.Stack())
	}
	if !c.turn.CompareAndSwap(serving, returned) {
		return // answered all the same
	}
	cn.mu.Lock()
	defer cn.mu.Unlock()
	if !c.answered {
		c.spoilt = true
		cn.failLocked(c, uint32(codes.Internal), "internal error")
	}
}
