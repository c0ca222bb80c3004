package rls

import (
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
	places *unary.Places
}

var _ unary.Method = (*Lane)(nil)

// NewLane returns a lane with the options of s, which asks engine.
func NewLane(s *Server, engine weir.AsyncChecker) *Lane {
	l := &Lane{server: s}
	l.places = unary.NewPlaces(engine, func() (any, *unary.Place) {
		x := &laneCall{lane: l}
		x.done = x.answered
		return x, &x.Place
	})
	return l
}

// laneCall is one call on its way, and all the memory it needs.
type laneCall struct {
	unary.Place
	lane  *Lane
	text  []byte // the message
	known bool   // in and req are what text says
	in    asked
	req   weir.Request
	dec   weir.Decision
	done  func(error)
}

// Take implements unary.Method.
func (l *Lane) Take(c unary.Call, msg []byte) unary.Step {
	x := l.places.At(c).Self.(*laneCall)
	if x.known && unary.Same(x.text, msg) {
		x.req.Deadline = c.Deadline()
		x.Seat.Again(&x.req, &x.dec, x.done)
		return x.Step()
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
	x.known, x.req.Deadline = true, c.Deadline()
	x.Seat.Prepare(&x.req, &x.dec, x.done)
	return x.Step()
}

// answered is the engine's callback.
func (x *laneCall) answered(err error) { x.Answer(x, err) }

// Append implements unary.Answer.
func (x *laneCall) Append(b []byte, err error) ([]byte, error) {
	if err == nil {
		b, err = x.lane.server.appendResponse(b, &x.req, &x.dec)
	}
	x.shrink()
	return b, err
}

func (x *laneCall) refused() {
	x.shrink()
	x.Leave()
}

// shrink gives up what is too large to be kept.
func (x *laneCall) shrink() {
	if cap(x.text) > unary.MaxKept {
		x.text, x.known, x.in, x.req = nil, false, asked{}, weir.Request{}
	}
}
