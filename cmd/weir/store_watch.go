package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
)

// partStore is what health calls the store.
const partStore = "store"

// storeWatch notes what becomes of calls to the store, and tells an operator
// when it stops to answer and when it answers again: once each, not per request.
//
//	           a degraded answer
//	answers -----------------------> away
//	   ^                               |
//	   +-------------------------------+
//	    a second with calls that worked, and no degraded answer
type storeWatch struct {
	worked, failed atomic.Uint64 // since the last look
	why            atomic.Uint32 // the weir.Code of the last that failed
	away           bool          // of the one who looks
	breakers       breakerWatch
	load           loadWatch
}

// hooks returns h with the notes taken besides.
func (w *storeWatch) hooks(h weir.Hooks) weir.Hooks {
	degraded, call, breaker := h.Degraded, h.StoreCall, h.Breaker
	w.breakers = newBreakerWatch()
	h.Breaker = func(shard string, state weir.BreakerState) {
		w.breakers.note(shard, state)
		breaker(shard, state)
	}
	h.Degraded = func(d *weir.Decision, err error) {
		if weir.CodeOf(err) == weir.CodeOverload {
			w.load.shed.Add(1)
		} else {
			w.note(err)
		}
		degraded(d, err)
	}
	h.StoreCall = func(c weir.StoreCall) {
		if c.Err == nil {
			w.worked.Add(1)
		}
		call(c)
	}
	return h
}

// note notes that the store did not answer.
func (w *storeWatch) note(err error) {
	w.why.Store(uint32(reasonOf(err)))
	w.failed.Add(1)
}

// reasonOf is err's code; of one that a breaker refused, why it is open.
func reasonOf(err error) weir.Code {
	e, ok := errors.AsType[*weir.Error](err)
	if ok && e.Code == weir.CodeBreaker && e.Err != nil {
		return weir.CodeOf(e.Err)
	}
	return weir.CodeOf(err)
}

// look tells whether something has changed since the last look. It forgets what
// was noted.
func (w *storeWatch) look() (changed bool) {
	worked, failed := w.worked.Swap(0), w.failed.Swap(0)
	switch {
	case failed > 0:
		changed = !w.away
		w.away = true
	case worked > 0:
		changed = w.away
		w.away = false
	}
	return changed
}

// quiet tells whether nothing was noted since the last look.
func (w *storeWatch) quiet() bool { return w.worked.Load() == 0 && w.failed.Load() == 0 }

// watchStore looks every second. While nobody asks, it asks by itself: whether
// Redis is there should be known before the first request.
func (s *server) watchStore(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		if s.watch.quiet() {
			s.probe(ctx)
		}
		if s.watch.look() {
			s.tellStore()
		}
		s.tellBreakers()
		s.guard.look(ctx, s.watch.away, s.log)
		if s.watch.load.look() {
			s.tellLoad()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// probe looks at a counter that nobody uses.
func (s *server) probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := s.store.Read(ctx, probeKey, probeMeter); err != nil && ctx.Err() != context.Canceled {
		s.watch.note(err)
	}
}

var (
	probeMeter = weir.MustMeter(weir.Limit{Algorithm: weir.FixedWindow, Count: 1, Window: weir.Second})
	// probeKey is like any other: an ACL that allows those allows this one.
	probeKey = string(key.Append(nil, &key.Key{Domain: "weir", Rule: "probe", Algorithm: weir.FixedWindow, Window: weir.Second}))
)

func (s *server) tellStore() {
	if !s.watch.away {
		s.health.Restore(partStore)
		s.log.Info("the store answers", "counters", s.where)
		return
	}
	why := weir.Code(s.watch.why.Load()).String()
	s.health.Degrade(partStore, fmt.Sprintf("%s does not answer (%s): policies' on_failure does", s.where, why))
	s.log.Warn("the store does not answer: requests are answered by their policies' on_failure", "counters", s.where, "reason", why,
		"hint", "see weir_store_errors_total and weir_degraded_total")
}
