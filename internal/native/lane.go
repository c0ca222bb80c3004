package native

import (
	"sync"

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
type Lane struct {
	calls sync.Pool
}

var _ unary.Method = (*Lane)(nil)

// NewLane returns a lane that asks engine.
func NewLane(engine weir.AsyncChecker) *Lane {
	l := &Lane{}
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
	in   wire.Scanned
	req  weir.Request
	dec  weir.Decision
	done func(error)

	seat unary.Seat // of this call only
}

// Take implements unary.Method.
func (l *Lane) Take(c unary.Call, msg []byte) unary.Step {
	x := l.calls.Get().(*laneCall)
	x.text = append(x.text[:0], msg...)
	if err := x.in.Scan(pbwire.View(x.text)); err != nil {
		unary.RefuseMessage(c, err)
		x.free()
		return nil
	}
	if err := wire.Check(&x.in.Message, &x.req, c.Received()); err != nil {
		unary.Refuse(c, err)
		x.free()
		return nil
	}
	if at := c.Deadline(); !at.IsZero() && (x.req.Deadline.IsZero() || at.Before(x.req.Deadline)) {
		x.req.Deadline = at
	}
	x.call = c
	x.seat.Prepare(&x.req, &x.dec, x.done)
	return x.seat
}

func (x *laneCall) answered(err error) {
	unary.Conclude(x.call, x, err)
	x.free()
}

// Append implements unary.Answer.
func (x *laneCall) Append(b []byte, err error) ([]byte, error) {
	switch {
	case err == nil:
		return wire.AppendAnswer(b, &x.dec, &x.in.Message), nil
	case weir.CodeOf(err) == weir.CodePolicyNotFound:
		var out weirv1.CheckResponse
		wire.Refuse(err, &x.in.Message, &out)
		return proto.MarshalOptions{}.MarshalAppend(b, &out)
	}
	return nil, err
}

// free makes x ready for another call.
func (x *laneCall) free() {
	x.call = nil
	if cap(x.text) <= unary.MaxKept {
		x.lane.calls.Put(x)
	}
}
