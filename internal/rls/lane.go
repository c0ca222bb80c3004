package rls

import (
	"sync"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pbwire"
	"github.com/weirlimit/weir/internal/unary"
)

// Lane is ShouldRateLimit from bytes to bytes: the same answers as Server's, to
// the same requests, with no message in between, no goroutine and no allocation.
//
//	Take -> copy -> scan -> request -> Prepare; Fetch; Run ... answered -> appendResponse -> Reply
//
// The texts of a request are parts of the copy, and so are those of the
// weir.Request: whoever is asked must not keep them, as weir.AsyncChecker and
// weir.Hooks say.
type Lane struct {
	server *Server
	calls  sync.Pool
}

var _ unary.Method = (*Lane)(nil)

// NewLane returns a lane with the options of s, which asks engine.
func NewLane(s *Server, engine weir.AsyncChecker) *Lane {
	l := &Lane{server: s}
	l.calls.New = func() any {
		x := &laneCall{lane: l, seat: unary.SeatOf(engine)}
		x.done = x.answered
		return x
	}
	return l
}

// laneCall is one call on its way, and all the memory it needs.
type laneCall struct {
	lane *Lane
	call unary.Call
	text []byte // the message
	in   asked
	req  weir.Request
	dec  weir.Decision
	done func(error)

	seat unary.Seat // of this call only
}

// Take implements unary.Method.
func (l *Lane) Take(c unary.Call, msg []byte) unary.Step {
	x := l.calls.Get().(*laneCall)
	x.text = append(x.text[:0], msg...)
	if err := x.in.scan(pbwire.View(x.text)); err != nil {
		unary.RefuseMessage(c, err)
		x.free()
		return nil
	}
	if err := l.server.request(&x.in, &x.req); err != nil {
		unary.Refuse(c, err)
		x.free()
		return nil
	}
	x.call, x.req.Deadline = c, c.Deadline()
	x.seat.Prepare(&x.req, &x.dec, x.done)
	return x.seat
}

func (x *laneCall) answered(err error) {
	unary.Conclude(x.call, x, err)
	x.free()
}

// Append implements unary.Answer.
func (x *laneCall) Append(b []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return x.lane.server.appendResponse(b, &x.req, &x.dec)
}

// free makes x ready for another call.
func (x *laneCall) free() {
	x.call = nil
	if cap(x.text) <= unary.MaxKept {
		x.lane.calls.Put(x)
	}
}
