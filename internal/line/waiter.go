package line

import "github.com/weirlimit/weir"

// Answer is what becomes of a request.
type Answer uint8

// The answers. A waiter's is Waits until it is settled.
const (
	Waits     Answer = iota
	Inside           // it has a place
	ShedLevel        // its class is below the level
	ShedFull         // there is no room in the line
	Gone             // it gave up
)

var answerNames = [...]string{"waits", "inside", "shed by level", "shed by a full line", "gone"}

func (a Answer) String() string {
	if int(a) >= len(answerNames) {
		return "unknown"
	}
	return answerNames[a]
}

// Shed tells whether the request was sent away.
func (a Answer) Shed() bool { return a == ShedLevel || a == ShedFull }

// Waiter is a request in the line.
type Waiter struct {
	Class  int
	Since  weir.Micros
	Until  weir.Micros // when it was settled
	Answer Answer
	Wake   chan struct{} // the caller's own; the line does not touch it

	before, after *Waiter
}

// queue is the waiters of a class, the oldest first.
type queue struct{ first, last *Waiter }

func (q *queue) push(w *Waiter) {
	w.before = q.last
	if q.last == nil {
		q.first = w
	} else {
		q.last.after = w
	}
	q.last = w
}

func (q *queue) remove(w *Waiter) {
	if w.before == nil {
		q.first = w.after
	} else {
		w.before.after = w.after
	}
	if w.after == nil {
		q.last = w.before
	} else {
		w.after.before = w.before
	}
	w.before, w.after = nil, nil
}
