package redisstore

import (
	"context"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// atOnce lets failures of one instant open a breaker.
const atOnce = -1

// brisk has a test's cooldowns pass quickly.
var brisk = Breaker{Span: atOnce, Cooldown: 20 * time.Millisecond, MaxCooldown: 80 * time.Millisecond}

// soon is a deadline that a busy machine keeps as a rule.
const soon = 50 * time.Millisecond

func always(k string, m *weir.Meter) func(int) weir.Entry {
	return func(int) weir.Entry { return one(k, m) }
}

// A server that hangs is left alone within 250 ms, tried now and then, and used
// again when it goes on.
func TestBreakerStoppedServer(t *testing.T) {
	srv := redistest.Start(t)
	var seen changes
	s := open(t, Options{
		Addrs: []string{srv.Addr()}, Deadline: soon, ConnTimeout: 500 * time.Millisecond,
		Breaker: Breaker{MaxCooldown: 500 * time.Millisecond}, Hooks: seen.hooks(),
	})
	d := startDrip(t, s, 8, 0, always("k", still(1_000_000)))
	d.progress(t, 200)
	goroutines, mark := runtime.NumGoroutine(), seen.mark()

	paused := time.Now()
	srv.Pause()
	opened := seen.await(t, mark, weir.BreakerOpen)
	if took := opened.at.Sub(paused); took > 250*time.Millisecond && !raceEnabled {
		t.Errorf("it opened after %v, want 250 ms at most", took)
	}
	if opened.shard != srv.Addr() {
		t.Errorf("shard %q, want %s", opened.shard, srv.Addr())
	}
	probe := seen.await(t, mark, weir.BreakerHalfOpen)
	if took := probe.at.Sub(opened.at); took < 250*time.Millisecond {
		t.Errorf("a probe after %v, want 250 ms at least", took)
	}
	eventually(t, "refusals", func() error { return atLeast(d.of(weir.CodeBreaker), 100) })
	if n := runtime.NumGoroutine(); n > goroutines+20 {
		t.Errorf("%d goroutines while the server hangs, %d before", n, goroutines)
	}
	if n := seen.count(mark, weir.BreakerClosed); n > 0 {
		t.Errorf("it closed %d times on a server that hangs", n)
	}
	srv.Resume()
	seen.await(t, mark, weir.BreakerClosed)
	d.progress(t, 100)
	t.Log(d)
}

// What has not been sent does not wait for its own deadline once the breaker
// opens, and is not sent.
func TestBreakerAnswersWhatWaits(t *testing.T) {
	srv := redistest.Start(t)
	var seen changes
	s := open(t, Options{Addrs: []string{srv.Addr()}, Deadline: soon, Breaker: Breaker{Span: atOnce}, Hooks: seen.hooks()})
	warm(t, s, srv)
	srv.Pause()
	m := still(1_000_000)
	// Both flights are away with entries that fail at the store's deadline, which
	// do not open it alone, and some wait that do so too; behind them wait those
	// that would wait for long.
	_, sent := aloft(t, s, "sent", m, time.Now().Add(soon))
	for range 10 {
		b := &weir.Batch{Entries: []weir.Entry{one("sent", m)}, Deadline: time.Now().Add(soon)}
		sent.Add(1)
		s.Submit(b, func(*weir.Batch) { sent.Done() })
	}
	answers := make(chan error, 50)
	for range cap(answers) {
		b := &weir.Batch{Entries: []weir.Entry{one("waits", m)}, Deadline: time.Now().Add(generous)}
		s.Submit(b, func(b *weir.Batch) { answers <- b.Entries[0].Err })
	}
	sent.Wait()
	for range cap(answers) {
		select {
		case err := <-answers:
			e := codeError(t, err, weir.CodeBreaker)
			wantCode(t, e.Err, weir.CodeTimeout)
		case <-time.After(generous / 2):
			t.Fatal("an entry waits although the breaker is open")
		}
	}
	srv.Resume()
	eventually(t, "an answer", func() error { return decide(s, one("waits", m)).Err })
	if n := used(t, s, "waits", m); n != 1 {
		t.Errorf("%d units in use, want 1: what was refused was sent", n)
	}
}

// One event is not an outage: the entries of both flights fail together on a
// stall, and the server is not left alone.
func TestBreakerOneStall(t *testing.T) {
	srv := redistest.Start(t)
	var seen changes
	s := open(t, Options{Addrs: []string{srv.Addr()}, Deadline: soon, Hooks: seen.hooks()})
	warm(t, s, srv)
	m := still(1_000_000)
	patiently := func() error { return askBy(s, 0, one("k", m), time.Now().Add(generous)).Err }
	for range 1000 { // a share of 1% is a share of many
		if err := patiently(); err != nil {
			t.Fatal(err)
		}
	}
	mark := seen.mark()
	srv.Pause()
	n, sent := aloft(t, s, "sent", m, time.Now().Add(soon))
	sent.Wait()
	srv.Resume()
	eventually(t, "a decision", patiently)
	if list := seen.since(mark); len(list) > 0 {
		t.Errorf("%d entries of two flights: %v", n, list)
	}
}

// The same of a connection that breaks under two full flights; a third one in a
// row is an outage.
func TestBreakerOneBrokenConnection(t *testing.T) {
	srv := redistest.Start(t)
	var seen changes
	s := open(t, Options{Addrs: []string{srv.Addr()}, Breaker: Breaker{Span: atOnce}, Hooks: seen.hooks()})
	crash := func() {
		t.Helper()
		b := &weir.Batch{Entries: make([]weir.Entry, 2*pipelineAt)}
		answered := make(chan error, 1)
		c := newCall(s, b, func(b *weir.Batch) { answered <- b.Entries[0].Err })
		f := newFlight(s)
		for i := range b.Entries {
			it := &c.items[i]
			it.init(&b.Entries[i], c, s.now(), s.now()+generous)
			it.state.Store(flying)
			f.items = append(f.items, it)
		}
		c.answered(nil)
		c.dropped()
		s.topo.Load().shards[0].crash(f, io.EOF, 0)
		wantCode(t, <-answered, weir.CodeRefused)
	}
	crash()
	crash()
	if list := seen.since(0); len(list) > 0 {
		t.Errorf("two flights at once: %v", list)
	}
	crash()
	seen.await(t, 0, weir.BreakerOpen)
}

// A server that is slower than the deadline is never let in again, also where a
// caller would wait longer for it; once it is quick it is.
func TestBreakerSlowServer(t *testing.T) {
	srv := redistest.Start(t)
	p := startSlowProxy(t, srv)
	var seen changes
	s := open(t, Options{Addrs: []string{p.addr}, Deadline: soon, Breaker: brisk, Hooks: seen.hooks()})
	m := still(1_000_000)
	d := startDrip(t, s, 6, 0, always("k", m))
	patient := startDrip(t, s, 2, generous, always("k", m))
	d.progress(t, 100)
	mark := seen.mark()
	p.hold.Store(int64(2 * soon))
	seen.await(t, mark, weir.BreakerOpen)
	eventually(t, "five probes", func() error { return atLeast(int64(seen.count(mark, weir.BreakerHalfOpen)), 5) })
	if n := seen.count(mark, weir.BreakerClosed); n > 0 {
		t.Errorf("it closed %d times on a slow server: %v", n, seen.since(mark))
	}
	p.hold.Store(0)
	seen.await(t, mark, weir.BreakerClosed)
	d.progress(t, 50)
	patient.progress(t, 10)
}

// Callers in a hurry say nothing about the server: one of them must not shut it
// out for all.
func TestBreakerHastyCallers(t *testing.T) {
	srv := redistest.Start(t)
	p := startSlowProxy(t, srv)
	var seen changes
	s := open(t, Options{Addrs: []string{p.addr}, Deadline: generous, Hooks: seen.hooks()})
	p.hold.Store(int64(20 * time.Millisecond))
	d := startDrip(t, s, 8, 2*time.Millisecond, always("k", still(10)))
	eventually(t, "many that were too late", func() error { return atLeast(d.of(weir.CodeTimeout), 200) })
	if list := seen.since(0); len(list) > 0 {
		t.Errorf("it changed: %v", list)
	}
}

// A caller that goes away before its deadline is no failure, and if it was the
// probe the next one is.
func TestBreakerGivenUp(t *testing.T) {
	srv := redistest.Start(t)
	var seen changes
	s := open(t, Options{Addrs: []string{srv.Addr()}, Deadline: generous, Breaker: brisk, Hooks: seen.hooks()})
	m := still(1000)
	warm(t, s, srv)
	breakNow(s, s.topo.Load().shards[0])
	srv.Pause()
	eventually(t, "a probe that is given up", func() error {
		err := decideFor(s, one("k", m), 5*time.Millisecond)
		if weir.CodeOf(err) != weir.CodeCanceled {
			return err
		}
		return nil
	})
	mark := seen.mark()
	srv.Resume()
	eventually(t, "the next probe", func() error { return decide(s, one("k", m)).Err })
	if n := seen.count(mark, weir.BreakerOpen); n > 0 {
		t.Errorf("giving up counted as a failure: %v", seen.since(mark))
	}
}

// A program that leaves Deadline alone and gives each call its own, as for a
// server far away, is not shut out by the default.
func TestBreakerDeadlineNotGiven(t *testing.T) {
	srv := redistest.Start(t)
	p := startSlowProxy(t, srv)
	s, err := New(context.Background(), Options{Addrs: []string{p.addr}, Breaker: brisk})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	p.hold.Store(int64(30 * time.Millisecond))
	breakNow(s, s.topo.Load().shards[0])
	eventually(t, "a decision within the call's own deadline", func() error {
		return askBy(s, 0, one("k", still(10)), time.Now().Add(generous)).Err
	})
}
