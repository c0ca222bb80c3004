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
	turns  bool // see unary.ByTurns
	calls  sync.Pool
}

var _ unary.Method = (*Lane)(nil)

// NewLane returns a lane with the options of s, which asks engine.
func NewLane(s *Server, engine weir.AsyncChecker) *Lane {
	l := &Lane{server: s, turns: unary.ByTurns(engine)}
	l.calls.New = func() any {
		x := &laneCall{lane: l, seat: unary.SeatOf(engine)}
		x.done = x.answered
		return x
	}
	return l
}

// laneCall is one call on its way, and all the memory it needs. It stays with
// the call's, if that has room for it (see unary.Call), and is then used for the
// next call there, which often says the same.
type laneCall struct {
	lane  *Lane
	stays bool
	call  unary.Call
	text  []byte // the message
	known bool   // in and req are what text says
	in    asked
	req   weir.Request
	dec   weir.Decision
	done  func(error)

	seat unary.Seat // of this call only
}

// memory returns that of a call.
func (l *Lane) memory(c unary.Call) *laneCall {
	if x, ok := c.Kept().(*laneCall); ok && x.lane == l {
		return x
	}
	x := l.calls.Get().(*laneCall)
	x.stays = c.Keep(x)
	return x
}

// Take implements unary.Method.
func (l *Lane) Take(c unary.Call, msg []byte) unary.Step {
	x := l.memory(c)
	if x.known && unary.Same(x.text, msg) {
		x.call, x.req.Deadline = c, c.Deadline()
		x.seat.Again(&x.req, &x.dec, x.done)
		return x.step()
	}
	x.known = false
	x.text = append(x.text[:0], msg...)
	if err := x.in.scan(pbwire.View(x.text)); err != nil {
		unary.RefuseMessage(c, err)
		x.refused()
		return nil
	}
	if err := l.server.request(&x.in, &x.req); err != nil {
		unary.Refuse(c, err)
		x.refused()
		return nil
	}
	x.known = true
	x.call, x.req.Deadline = c, c.Deadline()
	x.seat.Prepare(&x.req, &x.dec, x.done)
	return x.step()
}

// step is what is left to do. Where there is nothing to fetch that is done.
func (x *laneCall) step() unary.Step {
	if x.lane.turns {
		return x.seat
	}
	x.seat.Run()
	return nil
}

// answered is the engine's callback. What stays with the call is another's as soon
// as that is answered.
func (x *laneCall) answered(err error) {
	stays := x.stays
	unary.Conclude(x.call, x, err)
	x.free(stays)
}

// Append implements unary.Answer.
func (x *laneCall) Append(b []byte, err error) ([]byte, error) {
	if err == nil {
		b, err = x.lane.server.appendResponse(b, &x.req, &x.dec)
	}
	x.shrink()
	return b, err
}

// shrink gives up what is too large to be kept.
func (x *laneCall) shrink() {
	if cap(x.text) > unary.MaxKept {
		x.text, x.known, x.in, x.req = nil, false, asked{}, weir.Request{}
	}
}

// refused follows a call that was answered by Take, on whose goroutine the next is
// taken.
func (x *laneCall) refused() {
	x.shrink()
	x.free(x.stays)
}

// free makes x ready for another call, unless it stays where it is.
func (x *laneCall) free(stays bool) {
	if stays {
		return
	}
	x.call = nil
	x.lane.calls.Put(x)
}
