package redisstore

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
)

// watchdog answers entries at their deadline, whatever the connections do. It
// sleeps until the earliest deadline it knows of; a submit with an earlier one
// wakes it.
type watchdog struct {
	store *Store
	armed atomic.Int64 // nanoseconds since the store's start at which it next looks
	poked chan struct{}

	// shards are all that may hold entries, also those that have left the
	// cluster and wait for a last answer. The slice is replaced, never changed.
	shards atomic.Pointer[[]*shard]
	mu     sync.Mutex // of changes to shards
}

const (
	unarmed = math.MaxInt64
	// slack keeps the watchdog from being woken for deadlines that it will meet
	// closely enough anyway.
	slack = int64(500 * time.Microsecond)
)

func newWatchdog(s *Store) *watchdog {
	w := &watchdog{store: s, poked: make(chan struct{}, 1)}
	w.armed.Store(unarmed)
	w.shards.Store(new([]*shard))
	return w
}

func (w *watchdog) add(sh *shard) {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := append(slices.Clone(*w.shards.Load()), sh)
	w.shards.Store(&next)
}

func (w *watchdog) remove(sh *shard) {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := slices.DeleteFunc(slices.Clone(*w.shards.Load()), func(s *shard) bool { return s == sh })
	w.shards.Store(&next)
}

// expect makes sure that it looks at about that time.
func (w *watchdog) expect(deadline time.Duration) {
	for {
		armed := w.armed.Load()
		if int64(deadline)+slack >= armed {
			return
		}
		if w.armed.CompareAndSwap(armed, int64(deadline)) {
			break
		}
	}
	select {
	case w.poked <- struct{}{}:
	default:
	}
}

func (w *watchdog) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := time.Hour
		if at := w.armed.Load(); at != unarmed {
			wait = max(0, time.Duration(at)-w.store.now())
		}
		timer.Reset(wait)
		select {
		case <-w.store.quit:
			return
		case <-w.poked:
			continue
		case <-timer.C:
		}
		w.sweep()
	}
}

// sweep answers what is due. It disarms first: a deadline that is expected
// meanwhile must win over the one that the sweep finds.
func (w *watchdog) sweep() {
	w.armed.Store(unarmed)
	now := w.store.now()
	next := time.Duration(unarmed)
	for _, sh := range *w.shards.Load() {
		next = min(next, sh.expire(now))
	}
	if next != unarmed {
		w.expect(next)
	}
}

// expire answers the items of a shard whose deadline has passed, and returns
// the earliest deadline of the others.
func (s *shard) expire(now time.Duration) time.Duration {
	next := time.Duration(unarmed)
	var due, gone []*item
	var t tally
	var down *weir.Error
	// sift keeps of list what has time left.
	sift := func(list []*item) []*item {
		kept := list[:0]
		for _, it := range list {
			switch {
			case it.state.Load() == done: // its caller gave up
				t.expired(it, now, down)
				gone = append(gone, it)
			case it.deadline <= now && it.claim():
				t.expired(it, now, down)
				due, gone = append(due, it), append(gone, it)
			default:
				next = min(next, it.deadline)
				kept = append(kept, it)
			}
		}
		clear(list[len(kept):])
		return kept
	}
	s.mu.Lock()
	down = s.mu.down
	s.mu.queue = sift(s.mu.queue)
	s.mu.resting = sift(s.mu.resting)
	for _, f := range s.flights {
		t.flew(f, s.perFlight)
		for _, it := range f.items {
			if it.state.Load() == done {
				if it.deadline <= now {
					t.expired(it, now, down)
				}
				continue
			}
			if it.deadline <= now && it.claim() {
				t.expired(it, now, down)
				due = append(due, it)
				continue
			}
			next = min(next, max(it.deadline, now+time.Millisecond))
		}
	}
	refused := s.learnLocked(now, &t, timeoutError(t.why))
	s.mu.Unlock()
	if len(due) > 0 {
		s.store.noticed(timeoutError(nil)) // it may have been replaced
	}
	for _, it := range due {
		it.fail(timeoutError(firstError(it.cause, down)))
	}
	refused.answer(s.store)
	for _, it := range gone {
		it.holder.dropped()
	}
	return next
}

func firstError(errs ...*weir.Error) *weir.Error {
	for _, e := range errs {
		if e != nil {
			return e
		}
	}
	return nil
}
