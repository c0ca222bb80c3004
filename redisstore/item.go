package redisstore

import (
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
	"github.com/weirlimit/weir/internal/breaker"
)

// item is one entry on its way through a shard.
//
//	queued -> building -> flying -> done
//	   |          ^         |  ^
//	   |          |         |  |
//	   |          +- queued-+  |  (certainly not run: try again)
//	   +---------> done <------+  (deadline, cancel, close)
//
// Whoever moves it to done owns its entry and answers it, once. The entry may
// be read in building only: after done the caller may have reused its memory.
type item struct {
	state    atomic.Uint32
	entry    *weir.Entry
	holder   holder
	began    time.Duration // since the store's start
	deadline time.Duration // the same
	slot     uint16        // of its first key

	holderID algo.Owner // of concurrency charges
	replayID algo.Owner // of the replay record
	attempt  uint64     // of a part of an entry: whose record it makes, and may undo
	flags    uint8      // see commit.lua
	declared bool       // must go out alone, with declared keys
	ordered  bool       // must not overtake, or be overtaken by, others of its batch
	cause    *weir.Error

	// What the shard's breaker needs.
	probe   breaker.Ticket
	hasty   bool // has less time than a server is given: says little about it
	counted bool // the breaker was told; of who has it in its hands
	held    bool // waits because no dial was due; the same
}

const (
	queued uint32 = iota
	building
	flying
	done
)

// The flags of a group.
const (
	flagReplay = 1
	flagOwner  = 2
	flagUndo   = 4
	flagShort  = 8
	flagTwins  = 16 // of a group only
	flagPlain  = 32 // to the script only, instead of none
	flagTried  = 64 // has an attempt
)

// holder is what an item belongs to: a call, or a split entry.
type holder interface {
	answered(it *item)           // its entry is filled; called once, without locks
	soon()                       // it is about to be answered, by who has claimed it
	dropped()                    // no queue and no flight refers to the item any more
	settled(it *item, f *flight) // both at once, by the flight that had it
}

// claim moves it to done, from whatever state it may be in, and reports
// whether the caller is the one who did. An item that is being built is for an
// instant nobody's to claim.
func (it *item) claim() bool {
	return it.state.CompareAndSwap(queued, done) || it.state.CompareAndSwap(flying, done)
}

// fail answers an item that the caller has claimed.
func (it *item) fail(err *weir.Error) {
	it.entry.Err = err
	it.holder.answered(it)
}

func (it *item) init(e *weir.Entry, h holder, began, deadline time.Duration) {
	it.state.Store(queued)
	it.entry, it.holder, it.began, it.deadline = e, h, began, deadline
	it.probe, it.counted, it.hasty, it.held = 0, false, false, false
	it.flags, it.declared, it.ordered, it.cause = 0, false, false, nil
	it.holderID, it.replayID, it.attempt = algo.Owner{}, algo.Owner{}, 0
}

// identify computes what the entry's id is needed for.
func (it *item) identify(scratch []byte) []byte {
	if it.entry.ID == "" {
		return scratch
	}
	for i := range it.entry.Charges {
		if it.entry.Charges[i].Meter.Machine == weir.Slots {
			it.flags |= flagOwner
			it.holderID = algo.OwnerOf(it.entry.ID)
			break
		}
	}
	owner, ok, scratch := algo.ReplayOwner(it.entry, scratch)
	if ok {
		it.flags |= flagReplay
		it.replayID = owner
	}
	return scratch
}
