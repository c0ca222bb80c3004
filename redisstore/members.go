package redisstore

import (
	"context"
	"crypto/rand"
	"crypto/sha1"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/weirlimit/weir"
)

//go:embed lua/members.lua
var membersSource string

// membersKey holds who shares the counters, after the store's prefix. No key of
// a counter or a replay record looks like it.
const membersKey = "#members"

// JoinOptions configures Join. The zero value is good.
type JoinOptions struct {
	// Every is the time between heartbeats, and TTL how long one counts, at most
	// a day. Defaults 1 s and 5 times Every.
	Every, TTL time.Duration
	// Fallback is the count until Redis was heard of. Default 1.
	Fallback int
	// Told, when not nil, is called after each heartbeat, by one goroutine.
	Told func(Heartbeat)
}

// Heartbeat is what an instance learns from one.
type Heartbeat struct {
	Instances int // that live, this one included; the last known if Err is set
	// Offset is how far Redis's clock is ahead of this machine's; it may be off
	// by Doubt, half the round trip, either way.
	Offset, Doubt time.Duration
	Err           error // no answer: Offset and Doubt mean nothing
}

// Members is an instance among those that share the counters of one Redis and
// one prefix. They know each other by heartbeats, under random ids: no names of
// hosts are stored. While Redis is away the last count holds.
//
// In a cluster one key in one slot holds all of them; while that shard is away
// the last count holds too.
type Members struct {
	store  *Store
	opts   JoinOptions
	script script
	key    string
	id     [16]byte
	count  atomic.Int64
	last   int64 // what the last heartbeat counted; of run alone

	leave sync.Once
	quit  chan struct{} // closed by Leave
	ended chan struct{} // closed when the last heartbeat is over
}

// Join makes this process known to the others until Leave, or the store's
// Close. It does not wait for Redis.
func (s *Store) Join(o JoinOptions) *Members {
	o.Every = orDefault(o.Every, time.Second)
	o.TTL = min(max(orDefault(o.TTL, 5*o.Every), time.Millisecond), 24*time.Hour)
	o.Fallback = orDefault(o.Fallback, 1)
	sum := sha1.Sum([]byte(membersSource))
	m := &Members{
		store: s, opts: o, key: s.opts.Prefix + membersKey,
		script: script{source: membersSource, sha: hex.EncodeToString(sum[:])},
		quit:   make(chan struct{}), ended: make(chan struct{}),
	}
	_, _ = rand.Read(m.id[:]) // does not fail
	m.last = int64(o.Fallback)
	m.count.Store(m.last)
	if s.closed.Load() {
		close(m.ended)
		return m
	}
	s.goRun(m.run)
	return m
}

// Count returns how many instances live, this one included: what the last
// heartbeat said, or the fallback before the first. It falls when two in a row
// say so.
func (m *Members) Count() int { return int(m.count.Load()) }

// Leave ends the heartbeats and tells the others, so that they need not wait for
// the last one to grow old. It gives up when ctx ends.
func (m *Members) Leave(ctx context.Context) error {
	m.leave.Do(func() { close(m.quit) })
	said := make(chan error, 1)
	go func() {
		<-m.ended // or it would be followed by a heartbeat
		if m.store.closed.Load() {
			said <- closedError()
			return
		}
		_, err := m.beat(false)
		said <- err
	}()
	select {
	case err := <-said:
		return err
	case <-ctx.Done():
		return contextError(ctx.Err())
	}
}

func (m *Members) run() {
	defer close(m.ended)
	tick := time.NewTicker(m.opts.Every)
	defer tick.Stop()
	for {
		h, err := m.beat(true)
		if err != nil {
			h = Heartbeat{Err: err}
		} else {
			m.hear(int64(h.Instances))
		}
		h.Instances = m.Count()
		if m.opts.Told != nil {
			m.opts.Told(h)
		}
		select {
		case <-tick.C:
		case <-m.quit:
			return
		case <-m.store.quit:
			return
		}
	}
}

// hear takes over a count: the larger one of the last two heartbeats, so that it
// rises at once and falls when two agree. A server that has forgotten everybody
// hears from all of them within one interval; until then each would take its
// share of a limit for larger than it is.
func (m *Members) hear(n int64) {
	m.count.Store(max(m.last, n))
	m.last = n
}

// beat makes one round trip.
func (m *Members) beat(lives bool) (h Heartbeat, err error) {
	sh := m.shard()
	if sh == nil {
		return h, &weir.Error{Code: weir.CodeClusterDown, Message: "no node serves the members' slot"}
	}
	blob := binary.BigEndian.AppendUint32(m.id[:len(m.id):len(m.id)], uint32(m.opts.TTL/time.Millisecond))
	if lives {
		blob = append(blob, 1)
	} else {
		blob = append(blob, 0)
	}
	began := time.Now()
	reply, err := sh.run1(&m.script, m.key, string(blob))
	took := time.Since(began)
	if err != nil {
		e, _ := classify(err)
		m.store.noticed(e)
		return h, e
	}
	answer, err := reply.AsIntSlice()
	if err != nil || len(answer) != 3 || answer[0] < 0 {
		return h, &weir.Error{Code: weir.CodeProtocol, Message: "the answer to a heartbeat is not understood"}
	}
	// Redis looked at its clock at some instant of the round trip.
	redis := time.UnixMicro(answer[1]*1e6 + answer[2])
	return Heartbeat{
		Instances: max(1, int(answer[0])),
		Offset:    redis.Sub(began.Add(took / 2)),
		Doubt:     took/2 + time.Microsecond, // TIME is cut to whole ones
	}, nil
}

// shard serves the members' key; nil when nobody does.
func (m *Members) shard() *shard {
	t := m.store.topo.Load()
	if t.slots == nil {
		return t.shards[0]
	}
	return t.slots[m.store.slotOf(membersKey)]
}

// run1 runs a script of one key on the shard's node.
func (s *shard) run1(sc *script, key, arg string) (rueidis.RedisMessage, error) {
	n, err := s.acquire(s.store.base)
	if err != nil {
		return rueidis.RedisMessage{}, err
	}
	defer n.release()
	reply, err := n.eval(s.store.base, sc, key, arg)
	if err != nil {
		s.retireAfter(n, err)
	}
	return reply, err
}
