package memstore

import (
	"context"
	"errors"
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

var _ weir.Store = (*Store)(nil)

// Store is a weir.Store in memory. Make one with New.
type Store struct {
	shared
	shards []shard
	shift  uint            // a hash's bits above it are the number of its shard
	dues   []atomic.Uint32 // of the shards, together for a quick look
	hooks  weir.Hooks
	closed atomic.Bool
	calls  sync.Pool // of *call
}

// New makes an empty store.
func New(opts ...Option) *Store {
	var c config
	for _, o := range opts {
		o(&c)
	}
	c.settle()
	s := &Store{
		shards: make([]shard, c.shards),
		shift:  uint(64 - bits.Len(uint(c.shards-1))),
		dues:   make([]atomic.Uint32, c.shards),
		hooks:  c.hooks,
	}
	s.clock = newClock(c.clock)
	s.seed = maphash.MakeSeed()
	s.maxKeys = int64(c.maxKeys)
	s.soonest.Store(uint32(never))
	s.calls.New = func() any { return new(call) }
	for i := range s.shards {
		sh := &s.shards[i]
		sh.shared, sh.soonest = &s.shared, &s.dues[i]
		sh.soonest.Store(uint32(never))
		sh.replay.max = max(1, c.maxReplays/c.shards)
	}
	return s
}

func (s *Store) shardOf(hash uint64) *shard { return &s.shards[hash>>s.shift] }

// Submit implements weir.Store. It calls done before it returns.
func (s *Store) Submit(b *weir.Batch, done func(*weir.Batch)) {
	s.decide(b)
	done(b)
}

// Decide implements weir.Store. Nothing in it waits, so ctx and the deadline are
// looked at once, at the start.
func (s *Store) Decide(ctx context.Context, b *weir.Batch) {
	if err := ended(ctx); err != nil {
		refuse(b, err)
		return
	}
	s.decide(b)
}

func (s *Store) decide(b *weir.Batch) {
	now, ok := s.nowBefore(b.Deadline)
	s.decideAt(b, now, ok, 0)
}

// decideAt decides b at an instant, if that is in time. hash is that of its only
// key, or 0.
func (s *Store) decideAt(b *weir.Batch, now weir.Micros, inTime bool, hash uint64) {
	if s.closed.Load() {
		refuse(b, errClosed())
		return
	}
	if !inTime {
		refuse(b, &weir.Error{Code: weir.CodeTimeout, Message: "the batch's deadline had passed when it was submitted"})
		return
	}
	if len(b.Entries) > 1 {
		hash = 0
	}
	for i := range b.Entries {
		if e := &b.Entries[i]; len(e.Charges) == 1 && e.ID == "" && isPlain(&e.Charges[0]) {
			s.decidePlainEntry(e, now, hash)
		} else {
			s.decideEntry(e, now)
		}
	}
}

// Read implements weir.Store: what a charge of cost 0 would find.
func (s *Store) Read(ctx context.Context, text string, m *weir.Meter) (weir.Outcome, error) {
	if err := ended(ctx); err != nil {
		return weir.Outcome{}, err
	}
	if err := invalidCharge(weir.Charge{Key: text, Meter: m, Mode: weir.Peek}); err != nil {
		return weir.Outcome{}, err
	}
	var buf digest
	k := makeKey(s.seed, text, &buf)
	now := s.now()
	sh := s.shardOf(k.hash)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.closed {
		return weir.Outcome{}, errClosed()
	}
	var st algo.State
	if c, _ := sh.find(&k); c != nil {
		sh.load(c, m, &st)
	}
	o, _ := algo.Peek(m, st, now, 0, nil)
	return o, nil
}

// Reset implements weir.Store.
func (s *Store) Reset(ctx context.Context, text string) error {
	if err := ended(ctx); err != nil {
		return err
	}
	if err := invalidCharge(weir.Charge{Key: text, Meter: anyMeter, Mode: weir.Peek}); err != nil {
		return err
	}
	var buf digest
	k := makeKey(s.seed, text, &buf)
	sh := s.shardOf(k.hash)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.closed {
		return errClosed()
	}
	if c, i := sh.find(&k); c != nil {
		sh.drop(k.table(), i)
	}
	return nil
}

// Close implements weir.Store. It gives all memory back and never fails.
func (s *Store) Close() error {
	s.closed.Store(true)
	for i := range s.shards {
		s.shards[i].close()
	}
	return nil
}

func (s *shard) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.shared.keys.Add(-int64(s.len()))
	s.tables, s.slab, s.runs, s.replay = [tables]table{}, slab{}, nil, replayLog{}
	s.soonest.Store(uint32(never))
}

// anyMeter lets a key be checked that comes without one.
var anyMeter = &weir.Meter{Den: 1}

// refuse answers every entry with err.
func refuse(b *weir.Batch, err error) {
	for i := range b.Entries {
		fail(&b.Entries[i], err)
	}
}

func fail(e *weir.Entry, err error) {
	e.Outcomes, e.Admitted, e.Replayed, e.Now, e.Err = e.Outcomes[:0], false, false, 0, err
}

func ended(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	code := weir.CodeCanceled
	if errors.Is(err, context.DeadlineExceeded) {
		code = weir.CodeTimeout
	}
	return &weir.Error{Code: code, Message: "nothing was decided", Err: err}
}

func errClosed() error {
	return &weir.Error{Code: weir.CodeClosed, Message: "the memory store is closed"}
}
