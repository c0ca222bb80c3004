package redisstore

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
)

// Store is a weir.Store on Redis. Make one with New.
type Store struct {
	opts    Options
	scripts scripts
	start   time.Time // what deadlines are measured from, on the monotonic clock
	topo    atomic.Pointer[topology]
	watch   *watchdog
	follow  *follower // nil for a single server

	gathering atomic.Int32 // calls of Gather without their Gathered

	closed atomic.Bool
	quit   chan struct{}
	work   sync.WaitGroup // every goroutine of the store
	base   context.Context
	cancel context.CancelFunc
}

var _ weir.Store = (*Store)(nil)

// New connects to Redis. It fails when no server can be reached, unless
// AllowDown is set, and when a server is not what Mode says.
func New(ctx context.Context, o Options) (*Store, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	s := &Store{
		opts: o, scripts: newScripts(o.clock != nil),
		start: time.Now(), quit: make(chan struct{}),
	}
	s.base, s.cancel = context.WithCancel(context.Background())
	s.watch = newWatchdog(s)
	s.goRun(s.watch.run)
	if err := s.connect(ctx); err != nil {
		_ = s.Close()
		e, _ := classify(err)
		return nil, e
	}
	return s, nil
}

// connect finds the shards and, unless AllowDown is set, dials each.
func (s *Store) connect(ctx context.Context) error {
	if s.opts.Mode == Cluster {
		s.topo.Store(&topology{slots: new([key.Slots]*shard)})
		s.follow = newFollower(s)
		err := s.follow.refresh(ctx)
		s.goRun(s.follow.run)
		if err != nil && !s.opts.AllowDown {
			return err
		}
	} else {
		s.topo.Store(&topology{shards: []*shard{s.startShard(s.opts.Addrs[0])}})
		if s.opts.Mode == Sentinel {
			s.goRun(s.followSentinel)
		}
	}
	if s.opts.AllowDown {
		return nil
	}
	for _, sh := range s.topo.Load().shards {
		n, err := sh.acquire(ctx)
		if err != nil {
			return err
		}
		n.release()
	}
	return nil
}

func (s *Store) goRun(f func()) {
	s.work.Add(1)
	go func() {
		defer s.work.Done()
		f()
	}()
}

func (s *Store) now() time.Duration { return time.Since(s.start) }

// Submit implements weir.Store.
func (s *Store) Submit(b *weir.Batch, done func(*weir.Batch)) {
	if len(b.Entries) == 1 && s.submitLone(b, done) {
		return
	}
	s.submit(newCall(s, b, done), b.Deadline, b.Asked)
}

// Decide implements weir.Store.
func (s *Store) Decide(ctx context.Context, b *weir.Batch) {
	deadline := b.Deadline
	if d, ok := ctx.Deadline(); ok && (deadline.IsZero() || d.Before(deadline)) {
		deadline = d
	}
	if err := ctx.Err(); err != nil {
		for i := range b.Entries {
			b.Entries[i].Err = contextError(err)
		}
		return
	}
	c := newCall(s, b, nil)
	c.refs.Add(1) // the items are looked at after submit
	s.submit(c, deadline, b.Asked)
	c.wait(ctx)
	c.dropped()
}

// submit hands the entries of c to their shards.
func (s *Store) submit(c *call, by, asked time.Time) {
	now, deadline, hasty := s.times(by, asked)
	late := deadline <= now
	lone := len(c.items) == 1
	ordered := !lone && sharesKeys(c.batch)
	for i := range c.items {
		it, e := &c.items[i], &c.batch.Entries[i]
		it.init(e, c, now, deadline)
		it.ordered, it.hasty = ordered, hasty
		e.Err, e.Admitted, e.Replayed = nil, false, false
		if err := e.Validate(); err != nil {
			it.state.Store(done)
			it.entry.Err = err
			c.answered(it)
			c.dropped()
			continue
		}
		if late {
			it.state.Store(done)
			it.fail(timeoutError(nil))
			c.dropped()
			continue
		}
		c.scratch = it.identify(c.scratch)
		s.send(it)
	}
	if !lone { // else it may be another's by now
		c.answered(nil)
		c.dropped()
	}
}

// times is now and the deadline, since the store's start, and whether that is
// less time than a server is given.
func (s *Store) times(by, asked time.Time) (now, deadline time.Duration, hasty bool) {
	if asked.IsZero() {
		now = s.now()
	} else {
		now = asked.Sub(s.start)
	}
	deadline = now + s.opts.Deadline
	if !by.IsZero() {
		deadline = by.Sub(s.start)
	}
	return now, deadline, deadline-now < s.opts.Deadline/2
}

// sharesKeys tells whether two entries of b may touch one key. It says yes too
// often rather than too seldom.
func sharesKeys(b *weir.Batch) bool {
	var seen [64]uint64
	met := func(name string) bool {
		h := maphash.String(seed, name)
		word, bit := &seen[h>>6%64], uint64(1)<<(h%64)
		was := *word&bit != 0
		*word |= bit
		return was
	}
	for i := range b.Entries {
		for j := range b.Entries[i].Charges {
			c := &b.Entries[i].Charges[j]
			if met(c.Key) || c.Twin != "" && met(c.Twin) {
				return true
			}
		}
	}
	return false
}

// send queues an item where its keys live, or splits it when they live on
// several nodes.
func (s *Store) send(it *item) {
	if s.closed.Load() {
		s.refuse(it, closedError())
		return
	}
	t := s.topo.Load()
	if t.slots == nil {
		t.shards[0].enqueue(it)
		return
	}
	sh, one := s.shardOf(t, it)
	switch {
	case !one:
		s.split(it)
	case sh == nil:
		s.follow.poke()
		s.refuse(it, &weir.Error{Code: weir.CodeClusterDown, Message: "no node serves the key's slot", Hint: hints[weir.CodeClusterDown]})
	default:
		sh.enqueue(it)
	}
}

// refuse answers an item that is in no queue.
func (s *Store) refuse(it *item, err *weir.Error) {
	if it.claim() {
		it.fail(err)
	}
	it.holder.dropped()
}

// Close implements weir.Store.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.cancel()
	close(s.quit)
	for _, sh := range *s.watch.shards.Load() {
		sh.close(closedError())
	}
	s.work.Wait()
	return nil
}
