package redisstore

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

func TestStoppedServerDeadlinesAreKept(t *testing.T) {
	srv := redistest.Start(t)
	leaks := goleak.IgnoreCurrent() // the server's own
	var lost losses
	s := open(t, Options{
		Addrs: []string{srv.Addr()}, ConnTimeout: 100 * time.Millisecond, Hooks: lost.hooks(), AllowDown: true,
	})
	m := still(1_000_000)
	eventually(t, "a connection", func() error { return decide(s, one("k", m)).Err })
	srv.Pause()

	const callers, rounds = 200, 2
	var late lateness
	var admitted atomic.Int64
	admitted.Add(1)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for r := range rounds {
				// 5 to 205 ms, then shorter than a connection is given.
				deadline := time.Now().Add(time.Duration(5+i/(1+2*r)) * time.Millisecond)
				late.expect(deadline)
				e := askBy(s, i, one("k", m), deadline)
				late.done(deadline)
				if e.Err == nil {
					t.Errorf("caller %d was answered by a stopped server", i)
					continue
				}
				if code := weir.CodeOf(e.Err); code != weir.CodeTimeout && code != weir.CodeRefused {
					t.Errorf("caller %d: %v", i, e.Err)
				}
			}
		})
	}
	wg.Wait()
	late.check(t)

	srv.Resume()
	eventually(t, "an answer after the server went on", func() error {
		e := askBy(s, 0, one("k", m), time.Now().Add(time.Second))
		if e.Err == nil && e.Admitted {
			admitted.Add(1)
		}
		return e.Err
	})
	// What was answered, and what was answered too late, is in the count; what
	// is uncertain may be. Nothing else is: nothing was sent twice.
	got := used(t, s, "k", m)
	least := admitted.Load() + lost.of(weir.LossLateAnswer)
	most := least + lost.of(weir.LossUncertain)
	t.Logf("%d units in use, %d admitted, %v", got, admitted.Load(), &lost)
	if got < least || got > most {
		t.Errorf("%d units in use, want %d to %d", got, least, most)
	}
	if most > callers*rounds+3 {
		t.Errorf("%d units are accounted for, more than there were callers", most)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	goleak.VerifyNone(t, leaks)
}

// aloft fills both flights of a store's only shard with entries of key, whose
// server is stopped, and returns how many it took and what to wait for.
func aloft(t *testing.T, s *Store, key string, m *weir.Meter, deadline time.Time) (n int, answered *sync.WaitGroup) {
	t.Helper()
	answered = new(sync.WaitGroup)
	send := func(k int) {
		for range k {
			answered.Add(1)
			b := &weir.Batch{Entries: []weir.Entry{one(key, m)}, Deadline: deadline}
			s.Submit(b, func(*weir.Batch) { answered.Done() })
		}
		eventually(t, "the flight to start", func() error { return queueLength(s, 0) })
	}
	distant(s)
	send(1)
	send(pipelineAt)
	return 1 + pipelineAt, answered
}

// queueLength is an error unless so many entries wait.
func queueLength(s *Store, want int) error {
	sh := s.topo.Load().shards[0]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if n := len(sh.mu.queue); n != want {
		return fmt.Errorf("%d entries wait, want %d", n, want)
	}
	return nil
}

func TestStoppedServerQueuedEntriesAreDroppedUnsent(t *testing.T) {
	srv := redistest.Start(t)
	var lost losses
	s := open(t, Options{Addrs: []string{srv.Addr()}, ConnTimeout: generous, Hooks: lost.hooks()})
	m := still(1000)
	warm(t, s, srv)
	srv.MustDo("CONFIG", "RESETSTAT")
	srv.Pause()
	deadline := time.Now().Add(200 * time.Millisecond)
	sent, first := aloft(t, s, "sent", m, deadline)

	const waiting = 500
	b := &weir.Batch{Deadline: deadline}
	for range waiting {
		b.Entries = append(b.Entries, one("unsent", m))
	}
	before := runtime.NumGoroutine()
	answered := make(chan struct{})
	s.Submit(b, func(*weir.Batch) { close(answered) })
	if grown := runtime.NumGoroutine() - before; grown > 4 {
		t.Errorf("%d more goroutines for %d entries", grown, waiting)
	}
	<-answered
	first.Wait()
	for i := range b.Entries {
		wantCode(t, b.Entries[i].Err, weir.CodeTimeout)
	}
	if err := queueLength(s, 0); err != nil {
		t.Error(err)
	}

	srv.Resume()
	admit(t, s, one("after", m))
	eventually(t, "the flights to land", func() error {
		if got := lost.of(weir.LossLateAnswer); got != int64(sent) {
			return fmt.Errorf("%d late answers, want %d", got, sent)
		}
		return nil
	})
	if got := state(t, srv, "sent", m).Used; got != int64(sent) {
		t.Errorf("%d units in use of what was sent, want %d", got, sent)
	}
	if got := state(t, srv, "unsent", m).Used; got != 0 {
		t.Errorf("%d entries were sent after their deadline", got)
	}
	if got := srv.CommandStats()["evalsha"]; got != 3 {
		t.Errorf("%d calls were made, want 3", got)
	}
}

func TestStoppedServerQueueIsCapped(t *testing.T) {
	srv := redistest.Start(t)
	const room = 100
	s := open(t, Options{Addrs: []string{srv.Addr()}, ConnTimeout: generous, MaxQueue: room})
	m := still(1000)
	warm(t, s, srv)
	srv.Pause()
	deadline := time.Now().Add(generous)
	_, first := aloft(t, s, "k", m, deadline)
	b := &weir.Batch{Deadline: deadline}
	for range room + 50 {
		b.Entries = append(b.Entries, one("k", m))
	}
	answered := make(chan struct{})
	s.Submit(b, func(*weir.Batch) { close(answered) })
	if err := queueLength(s, room); err != nil {
		t.Error(err)
	}
	srv.Resume()
	<-answered
	first.Wait()
	refused := 0
	for i := range b.Entries {
		if b.Entries[i].Err != nil {
			wantCode(t, b.Entries[i].Err, weir.CodeOverload)
			refused++
		}
	}
	if refused != 50 {
		t.Errorf("%d entries were refused, want 50", refused)
	}
}

func TestStoppedServerReadAndResetKeepTheirDeadline(t *testing.T) {
	srv := redistest.Start(t)
	s := open(t, Options{Addrs: []string{srv.Addr()}, ConnTimeout: time.Second})
	m := still(10)
	warm(t, s, srv)
	srv.Pause()
	var late lateness
	for _, call := range []func(context.Context) error{
		func(ctx context.Context) error { _, err := s.Read(ctx, "k", m); return err },
		func(ctx context.Context) error { return s.Reset(ctx, "k") },
		func(ctx context.Context) error { return s.Reset(ctx, "k") },
	} {
		deadline := time.Now().Add(20 * time.Millisecond)
		late.expect(deadline)
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		wantCode(t, call(ctx), weir.CodeTimeout)
		late.done(deadline)
		cancel()
	}
	late.check(t)
	srv.Resume()
	if err := s.Reset(context.Background(), "k"); err != nil {
		t.Errorf("reset after the server went on: %v", err)
	}
}

func TestCancelAnswersAtOnce(t *testing.T) {
	srv := redistest.Start(t)
	s := open(t, Options{Addrs: []string{srv.Addr()}, ConnTimeout: generous})
	m := still(1000)
	warm(t, s, srv)
	srv.Pause()
	ctx, cancel := context.WithCancel(context.Background())
	answered := make(chan weir.Entry)
	_, first := aloft(t, s, "k", m, time.Now().Add(generous))
	go func() {
		b := weir.Batch{Entries: []weir.Entry{one("k", m)}}
		s.Decide(ctx, &b)
		answered <- b.Entries[0]
	}()
	eventually(t, "the caller to wait", func() error { return queueLength(s, 1) })
	cancel()
	select {
	case e := <-answered:
		wantCode(t, e.Err, weir.CodeCanceled)
	case <-time.After(generous / 2):
		t.Error("not answered when the caller gave up")
	}
	srv.Resume()
	first.Wait()
}
