package redisstore

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

// lateness collects how long after a deadline things happened. The machine's
// own share of it is measured beside: plain timers that are set to the same
// instants and do nothing.
type lateness struct {
	mu           sync.Mutex
	worst, plain time.Duration
	timers       sync.WaitGroup
}

// expect starts a plain timer for the deadline.
func (l *lateness) expect(deadline time.Time) {
	l.timers.Add(1)
	time.AfterFunc(time.Until(deadline), func() {
		defer l.timers.Done()
		l.note(&l.plain, time.Since(deadline))
	})
}

// done notes that what had that deadline is done.
func (l *lateness) done(deadline time.Time) { l.note(&l.worst, time.Since(deadline)) }

func (l *lateness) note(dst *time.Duration, late time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*dst = max(*dst, late)
}

func (l *lateness) check(t *testing.T) {
	t.Helper()
	l.timers.Wait()
	bound := 5 * time.Millisecond
	if raceEnabled {
		bound = 50 * time.Millisecond
	}
	t.Logf("latest answer %v past its deadline, latest plain timer %v", l.worst, l.plain)
	if l.worst > bound+max(0, l.plain) {
		t.Errorf("an answer came %v past its deadline, want at most %v (a plain timer: %v)", l.worst, bound, l.plain)
	}
}

// askBy decides e in one of the ways there are, chosen by i, and returns when it
// is answered.
func askBy(s *Store, i int, e weir.Entry, deadline time.Time) weir.Entry {
	b := &weir.Batch{Entries: []weir.Entry{e}}
	switch i % 3 {
	case 0:
		b.Deadline = deadline
		s.Decide(context.Background(), b)
	case 1:
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		defer cancel()
		s.Decide(ctx, b)
	default:
		b.Deadline = deadline
		answered := make(chan struct{})
		s.Submit(b, func(*weir.Batch) { close(answered) })
		<-answered
	}
	return b.Entries[0]
}
