package redisstore

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/breaker"
)

const (
	// flightsPerShard is how many round trips a shard may have under way. The
	// second one starts only when many entries wait: it keeps Redis busy while the
	// first one's answers are on their way. See pace.
	flightsPerShard = 2

	maxEntries  = 8192 // entries in a flight; identical ones cost little
	maxKeysHard = 4096 // Lua's unpack fails near 8000

	restFor    = 5 * time.Millisecond // for an item
	minBackoff = 5 * time.Millisecond // for the shard
	maxBackoff = 100 * time.Millisecond
)

// shard is the queue before one node, and the goroutines that empty it.
type shard struct {
	store   *Store
	addr    string
	flights [flightsPerShard]*flight
	keyCap  *keyCap

	mu struct {
		sync.Mutex
		queue   []*item
		spare   []*call   // see submitLone
		resting []*item   // not to be tried again at once; see rest
		waiting int       // goroutines with nothing to do
		ready   []*flight // those of them on standby
		parked  int       // those that wait for work
		called  bool      // one of these was woken, and has not looked yet
		aloft   int       // flights between loadLocked and the end of fly or arrive
		pace    pace
		down    *weir.Error
		closed  *weir.Error // why nothing may be queued any more

		breaker *breaker.Breaker
		refusal *weir.Error // what it answers while it is not closed
	}
	perFlight int // what the failed entries of one flight may weigh
	work      *sync.Cond
	primary   atomic.Pointer[string] // where the last connection was to be; for Sentinel
	linked    atomic.Bool            // conn has a node; read without its lock
	dialing   atomic.Bool            // conn waits for one; the same

	conn struct {
		sync.Mutex
		node    *sharedNode
		running int // goroutines of the shard; without any, nothing may be dialled
	}
}

func (s *Store) startShard(addr string) *shard {
	sh := &shard{store: s, addr: addr, keyCap: newKeyCap(s.opts.MaxKeys, s.opts.MaxScript)}
	sh.work = sync.NewCond(&sh.mu.Mutex)
	sh.mu.breaker = s.opts.Breaker.start()
	sh.perFlight = sh.mu.breaker.PerEvent()
	sh.conn.running = flightsPerShard
	for i := range sh.flights {
		sh.flights[i] = newFlight(s)
	}
	s.watch.add(sh)
	for i := range sh.flights {
		s.goRun(func() { sh.run(i) })
	}
	return sh
}

func (s *shard) enqueue(it *item) {
	// Read before it is queued: after that, others may answer it and its memory
	// may be another call's.
	deadline := it.deadline
	s.mu.Lock()
	it.probe, it.counted, it.held = 0, false, false
	if err := s.refusalLocked(it); err != nil {
		s.mu.Unlock()
		s.forward(it, err)
		return
	}
	s.mu.queue = append(s.mu.queue, it)
	next := s.wakeLocked()
	s.mu.Unlock()
	s.depart(next)
	s.store.watch.expect(deadline)
}

func (s *shard) refusalLocked(it *item) *weir.Error {
	if s.mu.closed != nil {
		return s.mu.closed
	}
	if len(s.mu.queue) >= s.store.opts.MaxQueue {
		return &weir.Error{Code: weir.CodeOverload, Message: "too many requests wait for redis"}
	}
	return s.admitLocked(it)
}

// wakeLocked has the first idle flight leave, or a further one when enough waits:
// one at a time, since the first takes all there is. A flight that it returns is the
// caller's to send, without the lock: see depart.
func (s *shard) wakeLocked() *flight {
	if s.mu.called || s.gatheringLocked() {
		return nil
	}
	if s.mu.waiting < flightsPerShard && (s.mu.waiting == 0 || len(s.mu.queue) < s.mu.pace.at()) {
		return nil
	}
	switch { // else somebody is about to look
	case len(s.mu.ready) > 0:
		return s.boardLocked()
	case s.mu.parked > 0:
		s.mu.called = true
		s.work.Signal()
	}
	return nil
}

func (s *shard) run(i int) {
	f := s.flights[i]
	backoff := minBackoff
	for s.take(f) {
		var ok bool
		if f.stand.away {
			ok = s.arrive(f)
		} else {
			ok = s.fly(f)
		}
		s.mu.Lock()
		s.mu.aloft--
		s.mu.Unlock()
		if ok {
			backoff = minBackoff
			continue
		}
		if !s.store.sleep(backoff) {
			s.close(closedError())
		}
		backoff = min(2*backoff, maxBackoff)
	}
	s.conn.Lock()
	n := s.conn.node
	s.conn.running--
	last := s.conn.running == 0
	s.conn.Unlock()
	if n != nil {
		s.retire(n)
	}
	if last {
		s.store.watch.remove(s)
	}
}

// take moves waiting items into f, or waits until another has done so and sent them:
// then f is away. It returns false when the shard is closed and nothing waits.
func (s *shard) take(f *flight) bool {
	s.mu.Lock()
	f.items, f.blamed = f.items[:0], 0
	s.keepSpareLocked(f)
	s.mu.waiting++
	n := s.readyLocked()
	for stand := len(f.next) <= fewAboard; n == 0; n = s.readyLocked() {
		if s.mu.closed != nil {
			s.mu.waiting--
			s.work.Broadcast()
			s.mu.Unlock()
			return false
		}
		if stand {
			stand = false
			s.standLocked(f)
			if f.stand.away {
				s.mu.Unlock()
				return true
			}
			continue
		}
		s.mu.parked++
		s.work.Wait()
		s.mu.parked--
		s.mu.called = false
	}
	s.loadLocked(f, n)
	var next *flight
	if len(s.mu.queue) > 0 {
		next = s.wakeLocked()
	}
	s.mu.Unlock()
	s.depart(next)
	return true
}

// loadLocked moves the first n items of the queue into an idle flight.
func (s *shard) loadLocked(f *flight, n int) {
	s.mu.waiting--
	s.mu.aloft++
	if n == len(s.mu.queue) {
		f.items, s.mu.queue = s.mu.queue, f.items
		return
	}
	f.items = append(f.items, s.mu.queue[:n]...)
	rest := copy(s.mu.queue, s.mu.queue[n:])
	clear(s.mu.queue[rest:])
	s.mu.queue = s.mu.queue[:rest]
}

// readyLocked is how many items may be taken now. Beside another flight it takes
// many to be worth the call, and none that must stay in order: two flights may
// reach Redis in any order.
func (s *shard) readyLocked() int {
	n := min(len(s.mu.queue), maxEntries)
	if s.gatheringLocked() {
		return 0
	}
	if s.mu.aloft == 0 {
		return n
	}
	for i, it := range s.mu.queue[:n] {
		if it.ordered {
			n = i
			break
		}
	}
	if n < s.mu.pace.at() && s.mu.waiting < flightsPerShard {
		return 0
	}
	return n
}

// cutOff tells whether the last that was heard of the server is that the cluster
// is down: it may be so for that server alone.
func (s *shard) cutOff() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.down != nil && s.mu.down.Code == weir.CodeClusterDown
}

// detach takes the items out of the watchdog's sight: what is then done with
// them takes microseconds.
func (s *shard) detach(f *flight) []*item {
	s.mu.Lock()
	f.items, f.landed = f.landed[:0], f.items
	s.mu.Unlock()
	return f.landed
}

// close lets the shard's goroutines end and moves what waits elsewhere, or
// answers it with err when the store closes.
func (s *shard) close(err *weir.Error) {
	s.mu.Lock()
	if s.mu.closed == nil {
		s.letGoLocked()
		s.mu.closed = err
	}
	waiting := append(s.mu.queue, s.mu.resting...)
	s.mu.queue, s.mu.resting = nil, nil
	var aloft []*item
	for _, f := range s.flights {
		for _, it := range f.items {
			if s.store.closed.Load() && it.claim() {
				aloft = append(aloft, it)
			}
		}
	}
	s.work.Broadcast()
	s.dismissLocked(nil)
	s.mu.Unlock()
	for _, it := range aloft {
		it.fail(err)
	}
	for _, it := range waiting {
		s.forward(it, err)
	}
}

// sleep waits, and returns false when the store closes first.
func (s *Store) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.quit:
		return false
	}
}
