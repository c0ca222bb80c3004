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
}

// mostDue is how many calls may wait for the frames behind them: all but the
// first read of a busy connection has fewer.
const mostDue = 64

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
	for from := 0; from < len(cn.due); {
		from = cn.serveFrom(from)
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

// serveFrom calls handlers, up to the first that panics, and returns which is
// next.
func (cn *conn) serveFrom(from int) (next int) {
	next = from
	defer func() {
		if v := recover(); v != nil {
			cn.panicked(cn.due[next].call, v)
			next++
		}
	}()
	for ; next < len(cn.due); next++ {
		d := &cn.due[next]
		d.call.handler.Serve(d.call, d.msg)
		// Who answers after this takes the lock.
		if d.call.turn.Load() == serving {
			d.call.turn.CompareAndSwap(serving, returned)
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
