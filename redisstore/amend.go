package redisstore

import (
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
)

// amendment is a correction sent behind a caller's back: an undo or a refund
// that is idempotent under its id, and so may be sent again when its fate is
// unknown.
type amendment struct {
	item
	store *Store
	own   weir.Entry
	tries int
	open  atomic.Int32 // of this attempt: its answer, and the last reference to the item
}

// amendTries bounds the attempts; each has undoFor.
const amendTries = 3

func (s *Store) amend(e weir.Entry, slot uint16, flags uint8) {
	a := &amendment{store: s, own: e, tries: amendTries}
	a.slot = slot
	a.send(flags)
}

func (a *amendment) send(flags uint8) {
	a.tries--
	a.open.Store(2)
	now := a.store.now()
	a.init(&a.own, a, now, now+undoFor)
	a.own.Err = nil
	a.identify(nil)
	if flags&flagUndo != 0 {
		a.flags = a.flags&^flagReplay | flagUndo
	}
	a.declared = false
	a.store.sendPart(&a.item)
}

func (a *amendment) dropped() {
	// Only when both have come is it safe to read the answer and to use the
	// item again.
	if a.open.Add(-1) > 0 || a.own.Err == nil {
		return
	}
	code := weir.CodeOf(a.own.Err)
	if a.tries > 0 && !a.store.closed.Load() && code.Temporary() {
		flags := a.flags & flagUndo
		if code == weir.CodeBreaker { // which answers at once; nothing waits
			time.AfterFunc(undoFor, func() { a.send(flags) })
			return
		}
		a.send(flags)
		return
	}
	a.store.lost(weir.LossRefund, 1)
}

func (a *amendment) answered(*item) { a.dropped() }

func (a *amendment) soon() {}

func (a *amendment) settled(it *item, _ *flight) {
	a.answered(it)
	a.dropped()
}
