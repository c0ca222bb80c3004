package client

import (
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/wire"
)

// slotBits of a check's number are the place of its call in a lane; the others
// count how often the place was used, so that a late answer finds that its
// call is another's now.
const slotBits = 16

// stage is where a call's message is.
type stage uint8

const (
	idle    stage = iota // on the free list
	queued               // waits for the writer
	writing              // the writer has it
	sent                 // may have been decided
)

// call is one check on its way. It is reused, never freed: a lane has as many
// as were ever outstanding at a time. Fields are guarded by the lane's mutex,
// but for asked while it is writing.
type call struct {
	asked  wire.Asked
	number uint64
	stage  stage
	over   bool // answered, while the queue or the writer still has it
	due    tick
	ticket

	prev, next *call // on a spoke of the wheel
}

// ticket is what is needed to answer a check: it outlives the call.
type ticket struct {
	req   *weir.Request
	dec   *weir.Decision
	done  func(error) // nil when somebody waits
	wait  *waiter
	began time.Time
	until time.Time // the deadline, with the fallback's share
}

// waiter is somebody who waits for an answer. The fallback is then run by them,
// not by the goroutine that finds that it is needed.
type waiter struct {
	wake chan struct{}
	err  error // the answer, when away is nil
	away error // why the server does not answer; nil when it does
}

func (w *waiter) answer(err, away error) {
	w.err, w.away = err, away
	w.wake <- struct{}{}
}
