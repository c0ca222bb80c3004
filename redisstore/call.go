package redisstore

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/weirlimit/weir"
)

// call is one Submit. Its memory is reused once the caller has its answer and
// no queue or flight refers to its items.
type call struct {
	store   *Store
	batch   *weir.Batch
	done    func(*weir.Batch)
	items   []item
	left    atomic.Int32 // entries without an answer, plus one while submitting; of a lone one nobody counts
	refs    atomic.Int32 // items in queues and flights, plus one each for who answers last and, of several, for the submitter
	scratch []byte
	wake    chan struct{} // for Decide; holds one
	home    *shard        // to whose spare calls it belongs; nil for the pool's
	lone    [1]item       // what items is, as a rule
	many    []item        // else
}

var calls = sync.Pool{New: func() any { return &call{wake: make(chan struct{}, 1)} }}

func newCall(s *Store, b *weir.Batch, done func(*weir.Batch)) *call {
	c := calls.Get().(*call)
	c.store, c.batch, c.done = s, b, done
	n := len(b.Entries)
	if n == 1 {
		c.items = c.lone[:]
		c.hold()
		return c
	}
	if cap(c.many) < n {
		c.many = make([]item, n)
	}
	c.items = c.many[:n]
	c.left.Store(int32(n) + 1)
	c.refs.Store(int32(n) + 2)
	return c
}

// loneRefs are the references to a call of one entry: its item's, and one for who
// answers it.
const loneRefs = 2

// hold gives a call of one entry its references.
func (c *call) hold() {
	if c.refs.Load() != loneRefs {
		c.refs.Store(loneRefs)
	}
}

func (c *call) answered(*item) {
	if len(c.items) == 1 || c.left.Add(-1) == 0 {
		c.tell()
		// Not before: who answers an item has claimed it, but a flight may drop it
		// at any time.
		c.dropped()
	}
}

func (c *call) soon() {
	if c.batch.Soon != nil && len(c.items) == 1 {
		c.batch.Soon()
	}
}

func (c *call) tell() {
	if c.done != nil {
		c.done(c.batch)
	} else {
		c.wake <- struct{}{}
	}
}

func (c *call) dropped() {
	if c.refs.Add(-1) == 0 {
		c.home = nil
		c.free()
		calls.Put(c)
	}
}

func (c *call) free() { c.batch, c.done, c.store = nil, nil, nil }

// settled is answered and dropped in one, by the flight that had the item.
func (c *call) settled(it *item, f *flight) {
	if len(c.items) > 1 {
		c.answered(it)
		c.dropped()
		return
	}
	c.tell()
	// Two of them are the flight's, and nobody can take another. They are left
	// for the next who uses the memory: to write them twice costs as much as all
	// else here.
	if c.refs.Load() != loneRefs && c.refs.Add(-loneRefs) != 0 {
		return // Decide has yet to look at it
	}
	c.free()
	if c.home == nil {
		calls.Put(c)
		return
	}
	f.spare = append(f.spare, c)
}

// wait is how Decide waits: for the answers, or for the caller to give up.
func (c *call) wait(ctx context.Context) {
	if ctx.Done() == nil {
		<-c.wake
		return
	}
	select {
	case <-c.wake:
		return
	case <-ctx.Done():
	}
	err := contextError(ctx.Err())
	for i := range c.items {
		it := &c.items[i]
		for it.state.Load() != done {
			if it.claim() {
				it.fail(err)
				break
			}
			runtime.Gosched() // being built, for some microseconds
		}
	}
	<-c.wake
}

func contextError(err error) *weir.Error {
	code := weir.CodeCanceled
	if err == context.DeadlineExceeded {
		code = weir.CodeTimeout
	}
	return &weir.Error{Code: code, Message: "the caller's context ended", Err: err}
}
