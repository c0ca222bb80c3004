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
	left    atomic.Int32 // entries without an answer, plus one while submitting
	refs    atomic.Int32 // items in queues and flights, plus one each for the submitter and for who answers last
	scratch []byte
	wake    chan struct{} // for Decide; holds one
}

var calls = sync.Pool{New: func() any { return &call{wake: make(chan struct{}, 1)} }}

func newCall(s *Store, b *weir.Batch, done func(*weir.Batch)) *call {
	c := calls.Get().(*call)
	c.store, c.batch, c.done = s, b, done
	n := len(b.Entries)
	if cap(c.items) < n {
		c.items = make([]item, n)
	}
	c.items = c.items[:n]
	c.left.Store(int32(n) + 1)
	c.refs.Store(int32(n) + 2)
	return c
}

func (c *call) answered(*item) {
	if c.left.Add(-1) == 0 {
		c.finish()
	}
}

func (c *call) finish() {
	if c.done != nil {
		c.done(c.batch)
	} else {
		c.wake <- struct{}{}
	}
	// Not before: who answers an item has claimed it, but a flight may drop it
	// at any time.
	c.dropped()
}

func (c *call) dropped() {
	if c.refs.Add(-1) == 0 {
		c.batch, c.done, c.store = nil, nil, nil
		calls.Put(c)
	}
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
