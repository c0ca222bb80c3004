package native

import (
	"google.golang.org/protobuf/proto"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/pbwire"
	"github.com/weirlimit/weir/internal/unary"
	"github.com/weirlimit/weir/internal/wire"
)

// Lane is Limiter/Check from bytes to bytes: the same answers as Limiter's, to
// the same requests, with no message in between, no goroutine and no allocation.
//
// The texts of a request are parts of a copy of its message, which is used
// again: whoever is asked must not keep them, as weir.AsyncChecker and
// weir.Hooks say.
type Lane struct{ places *unary.Places }

var _ unary.Method = (*Lane)(nil)

// NewLane returns a lane that asks engine.
func NewLane(engine weir.AsyncChecker) *Lane {
	return &Lane{unary.NewPlaces(engine, func() (any, *unary.Place) {
		x := &laneCall{}
		x.done = x.answered
		return x, &x.Place
	})}
}

// laneCall is one call on its way, and all the memory it needs.
type laneCall struct {
	unary.Place
	text  []byte // the message
	known bool   // in is what text says, and was asked before
	in    wire.Scanned
	req   weir.Request
	dec   weir.Decision
	done  func(error)
}

// Take implements unary.Method.
func (l *Lane) Take(c unary.Call, msg []byte) unary.Step {
	x := l.places.At(c).Self.(*laneCall)
	again := x.known && unary.Same(x.text, msg)
	x.known = false
	if !again {
		x.text = append(x.text[:0], msg...)
		if err := x.in.Scan(pbwire.View(x.text)); err != nil {
			unary.RefuseMessage(c, err)
			x.refused()
			return nil
		}
	}
	if err := wire.Check(&x.in.Message, &x.req, c.Received()); err != nil {
		unary.Refuse(c, err)
		x.refused()
		return nil
	}
	if at := c.Deadline(); !at.IsZero() && (x.req.Deadline.IsZero() || at.Before(x.req.Deadline)) {
		x.req.Deadline = at
	}
	x.known = true
	if again {
		x.Seat.Again(&x.req, &x.dec, x.done)
	} else {
		x.Seat.Prepare(&x.req, &x.dec, x.done)
	}
	return x.Step()
}

// answered is the engine's callback.
func (x *laneCall) answered(err error) { x.Answer(x, err) }

// Append implements unary.Answer.
func (x *laneCall) Append(b []byte, err error) ([]byte, error) {
	switch {
	case err == nil:
		b = wire.AppendAnswer(b, &x.dec, &x.in.Message)
	case weir.CodeOf(err) == weir.CodePolicyNotFound:
		var out weirv1.CheckResponse
		wire.Refuse(err, &x.in.Message, &out)
		b, err = proto.MarshalOptions{}.MarshalAppend(b, &out)
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
		x.in.Drop()
		x.text, x.known, x.req = nil, false, weir.Request{}
	}
}
