package engine

import "sync/atomic"

// waiter is what Check waits for. A store in memory answers before it is waited
// for: that takes one atomic exchange, and no channel is touched.
//
// Its states are numbered by turn, so that the last turn's needs no resetting.
type waiter struct {
	turn  uint32 // of who waits
	state atomic.Uint32
	wake  chan struct{} // of 1
	err   error
}

// begin makes w ready for an answer.
func (w *waiter) begin() {
	w.turn += 2
	w.err = nil
}

// answered and awaited are the states of this turn; any other is that nothing
// has happened yet.
func (w *waiter) answered() uint32 { return w.turn }
func (w *waiter) awaited() uint32  { return w.turn + 1 }

// answer ends the wait. Nothing of w is touched afterwards but the channel that
// is waited on.
func (w *waiter) answer(err error) {
	w.err = err
	awaited := w.awaited()
	if w.state.Swap(w.answered()) == awaited {
		w.wake <- struct{}{}
	}
}

// wait returns the answer.
func (w *waiter) wait() error {
	if w.state.Load() != w.answered() && w.state.Swap(w.awaited()) != w.answered() {
		<-w.wake
	}
	return w.err
}
