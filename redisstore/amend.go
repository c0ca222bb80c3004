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
	undo  uint64 // the attempt whose charges are undone; 0 of a refund
	tries int
	open  atomic.Int32 // of this attempt: its answer, and the last reference to the item
}

// amendTries bounds the attempts; each has undoFor.
const amendTries = 3

// amend undoes what an attempt at e charged, or with none sends e, a refund.
func (s *Store) amend(e weir.Entry, slot uint16, undo uint64) {
	a := &amendment{store: s, own: e, undo: undo, tries: amendTries}
	a.slot = slot
	a.send()
}

func (a *amendment) send() {
	a.tries--
	a.open.Store(2)
	now := a.store.now()
	a.init(&a.own, a, now, now+undoFor)
	a.own.Err = nil
	a.identify(nil)
	if a.undo != 0 {
		a.flags = a.flags&^flagReplay | flagUndo | flagTried
		a.attempt = a.undo
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
		if code == weir.CodeBreaker { // which answers at once; nothing waits
			time.AfterFunc(undoFor, a.send)
			return
		}
		a.send()
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
