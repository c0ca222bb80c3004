package redisstore

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/breaker"
)

// Breaker says when a shard is left alone. The zero value has the defaults of
// each field. See docs/redis.md for what counts as a failure.
type Breaker struct {
	// Consecutive failed entries open it, once they have gone on for Span. Defaults
	// 20 and 20 ms: a machine or a server that stands still for a moment is back
	// before a breaker would look. A Span below 0 is none.
	Consecutive int
	Span        time.Duration
	// MaxShare is the share of failed entries, over 30 s with at least 500
	// entries and 20 failures, above which it opens. Default 0.01; 1 is never.
	MaxShare float64
	// Cooldown is how long it stays open at first, and MaxCooldown what that is
	// doubled to. Up to a fifth is added to each. Defaults 250 ms and 5 s.
	Cooldown, MaxCooldown time.Duration
}

func (b Breaker) start() *breaker.Breaker {
	return breaker.New(breaker.Config{
		Consecutive: b.Consecutive, Span: weir.MicrosOf(max(cmp.Or(b.Span, failingFor), 0)), MaxShare: b.MaxShare,
		Cooldown: weir.MicrosOf(b.Cooldown), MaxCooldown: weir.MicrosOf(b.MaxCooldown),
		Jitter: rand.Float64,
	})
}

// failingFor is the default of Breaker.Span.
const failingFor = 20 * time.Millisecond

// micros is a breaker's instant: what deadlines are measured in, rounded down.
func micros(d time.Duration) weir.Micros { return weir.Micros(d / time.Microsecond) }

// failure tells the codes that say something bad about a shard. The others are
// of the caller, of this process, or of a slot that is being moved.
func failure(code weir.Code) bool {
	switch code {
	case weir.CodeTimeout, weir.CodeRefused, weir.CodeReadOnly, weir.CodeNoAuth, weir.CodeNoPerm,
		weir.CodeClusterDown, weir.CodeOOM, weir.CodeLoading, weir.CodeProtocol:
		return true
	}
	return false
}

// tally is what became of some entries of one shard.
type tally struct {
	succeeded, failed int
	weight            int            // of the failed: see flew
	probe             breaker.Ticket // of the probe, if it is among them
	probeFailed       bool
	probeSilent       bool // it says nothing
	why               *weir.Error

	aloft *flight // whose entries come next; nil when they are of no flight
	most  int     // that those of one flight may weigh
}

// flew says that the entries which come next were on a flight. A flight is one
// event, however many are on board: when it fails they do not weigh as much as
// those that fail each for itself.
func (t *tally) flew(f *flight, most int) { t.aloft, t.most = f, most }

func (t *tally) fail() {
	t.failed++
	if t.aloft != nil {
		if t.aloft.blamed >= t.most {
			return
		}
		t.aloft.blamed++
	}
	t.weight++
}

// passed notes that Redis answered it at now.
func (t *tally) passed(it *item, now, within time.Duration) {
	if it.counted {
		return
	}
	it.counted = true
	late := it.deadline <= now
	switch {
	case it.probe.Probe():
		// A probe may come with a deadline of its own; a server that is slower
		// than the store's stays shut out.
		t.probe, t.probeSilent = it.probe, late && it.hasty
		t.probeFailed = !t.probeSilent && (late || now-it.began > within)
	case !late:
		t.succeeded++
	case !it.hasty:
		t.fail()
	}
}

// missed notes that it failed with that code.
func (t *tally) missed(it *item, code weir.Code) {
	if it.counted {
		return
	}
	it.counted = true
	bad := failure(code)
	switch {
	case it.probe.Probe():
		bad = bad && !(it.hasty && code == weir.CodeTimeout)
		t.probe, t.probeFailed, t.probeSilent = it.probe, bad, !bad
	case bad && !it.hasty:
		t.fail()
	}
}

// expired notes that nobody waits for it any more: because it is late, or
// because its caller gave up before.
func (t *tally) expired(it *item, now time.Duration, down *weir.Error) {
	if it.deadline > now || it.held && it.probe.Probe() && t.aloft == nil {
		t.forgot(it) // or was a probe for which nobody dialled
		return
	}
	t.why = firstError(it.cause, down)
	t.missed(it, timeoutError(t.why).Code)
}

// forgot notes that nothing is to be learned from it.
func (t *tally) forgot(it *item) {
	if it.probe.Probe() && !it.counted {
		t.probe, t.probeSilent = it.probe, true
	}
	it.counted = true
}

// refusals are entries to be answered because a breaker opened.
type refusals struct {
	waiting  []*item // in no queue any more
	stranded []*item // claimed, and left with a flight that waits for a connection
	err      *weir.Error
}

// learnLocked tells the breaker. Who calls it calls answer on what it returns,
// without the lock.
func (s *shard) learnLocked(now time.Duration, t *tally, why *weir.Error) (out refusals) {
	b, at := s.mu.breaker, micros(now)
	before := b.State()
	if t.probe.Probe() {
		if t.probeSilent {
			b.Forget(at, t.probe)
		} else {
			b.Done(at, t.probe, t.probeFailed)
		}
	}
	if t.succeeded+t.failed > 0 {
		b.Count(at, t.succeeded, t.failed, t.weight)
	}
	if b.State() == before {
		return out
	}
	s.tellLocked()
	if b.State() != weir.BreakerOpen {
		return out
	}
	// Nothing that has not been sent waits for its own deadline.
	s.mu.refusal = breakerError(why)
	out.err, out.waiting = s.mu.refusal, append(s.mu.queue, s.mu.resting...)
	s.mu.queue, s.mu.resting = nil, nil
	for _, f := range s.flights {
		for _, it := range f.items {
			if it.state.CompareAndSwap(queued, done) {
				it.counted = true
				out.stranded = append(out.stranded, it)
			}
		}
	}
	return out
}

func (r *refusals) answer(s *Store) {
	for _, it := range r.stranded {
		it.fail(r.err)
	}
	for _, it := range r.waiting {
		s.refuse(it, r.err)
	}
}

// learn is learnLocked for who has no other use for the lock.
func (s *shard) learn(now time.Duration, t *tally, why *weir.Error) {
	s.mu.Lock()
	r := s.learnLocked(now, t, why)
	s.mu.Unlock()
	r.answer(s.store)
}

// forget is told of an item that leaves the shard with nothing to be learned
// from it.
func (s *shard) forget(it *item) {
	if it.probe.Probe() && !it.counted {
		s.learn(s.store.now(), &tally{probe: it.probe, probeSilent: true}, nil)
		it.probe = 0
	}
}

// hastyAfter is for how long a probe must be due before one in a hurry is it.
const hastyAfter = time.Second

// admitLocked asks the breaker. An entry with less time than the store gives is
// no probe: it would say more about its caller than about the server. But where
// no other comes, a breaker that waited for one would never close. Until a dial
// is due there is none either, and the cooldown does not double for that.
func (s *shard) admitLocked(it *item) *weir.Error {
	b := s.mu.breaker
	if b.State() == weir.BreakerClosed {
		return nil
	}
	now := micros(s.store.now())
	if it.hasty && b.Overdue(now) < micros(hastyAfter) {
		return s.mu.refusal
	}
	if b.Due(now) && !s.worthProbing() {
		return s.mu.refusal
	}
	before := b.State()
	t, ok := b.Allow(now)
	if b.State() != before {
		s.tellLocked()
	}
	if !ok {
		return s.mu.refusal
	}
	it.probe = t
	return nil
}

// topologyChanged has the next entry probe.
func (s *shard) topologyChanged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.mu.breaker.State()
	s.mu.breaker.TopologyChanged(micros(s.store.now()))
	if s.mu.breaker.State() != before {
		s.tellLocked()
	}
}

// broken tells whether the breaker is not closed.
func (s *shard) broken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.breaker.State() != weir.BreakerClosed
}

// tellLocked calls the hook. It holds the lock so that the last word is the last
// state.
func (s *shard) tellLocked() {
	if hook := s.store.opts.Hooks.Breaker; hook != nil && s.mu.closed == nil {
		hook(s.addr, s.mu.breaker.State())
	}
}

// letGoLocked is for a shard that is left: a server that is nobody's has no
// breaker, and a gauge must not go on saying that it is open.
func (s *shard) letGoLocked() {
	if hook := s.store.opts.Hooks.Breaker; hook != nil && s.mu.breaker.State() != weir.BreakerClosed {
		hook(s.addr, weir.BreakerClosed)
	}
}

// breakerError is made once each time a breaker opens, and shared.
func breakerError(why *weir.Error) *weir.Error {
	e := &weir.Error{Code: weir.CodeBreaker, Message: "redis is left alone for a while: too many calls failed", Hint: hints[weir.CodeBreaker]}
	if why != nil {
		e.Err = why
		if why.Hint != "" {
			e.Hint = ""
		}
	}
	return e
}
