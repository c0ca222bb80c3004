package redisstore

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

func TestCloseAnswersWhatWaits(t *testing.T) {
	srv := redistest.Start(t)
	servers := goleak.IgnoreCurrent()
	s := openAt(t, srv)
	m := still(1000)
	warm(t, s, srv)
	srv.Pause()
	// Some in flight, some in the queue, some with a caller that waits.
	var mu sync.Mutex
	var errs []error
	inFlight, first := aloft(t, s, "k", m, time.Now().Add(generous))
	b := &weir.Batch{}
	for range 100 {
		b.Entries = append(b.Entries, one("k", m))
	}
	answered := make(chan struct{})
	s.Submit(b, func(*weir.Batch) { close(answered) })
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			e := decide(s, one("k", m))
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, e.Err)
		})
	}
	eventually(t, "the callers to wait", func() error { return queueLength(s, 120) })
	began := time.Now()
	closed := make(chan error, 2)
	for range 2 {
		go func() { closed <- s.Close() }()
	}
	<-answered
	first.Wait()
	wg.Wait()
	if took := time.Since(began); took > generous/4 {
		t.Errorf("they were answered after %v, want at once", took)
	}
	for i := range b.Entries {
		errs = append(errs, b.Entries[i].Err)
	}
	for _, err := range errs {
		wantCode(t, err, weir.CodeClosed)
	}
	t.Logf("%d in flight and %d others were answered", inFlight, len(errs))
	srv.Resume()
	for range 2 {
		if err := <-closed; err != nil {
			t.Error(err)
		}
	}
	goleak.VerifyNone(t, servers)
}

func TestCloseRefusesWhatComesAfter(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(10)
	admit(t, s, one("k", m))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, decide(s, one("k", m)).Err, weir.CodeClosed)
	called := make(chan error, 1)
	s.Submit(&weir.Batch{Entries: []weir.Entry{one("k", m)}}, func(b *weir.Batch) { called <- b.Entries[0].Err })
	wantCode(t, <-called, weir.CodeClosed)
	_, err := s.Read(context.Background(), "k", m)
	wantCode(t, err, weir.CodeClosed)
	wantCode(t, s.Reset(context.Background(), "k"), weir.CodeClosed)
}

func TestCloseUnderLoadAnswersEveryone(t *testing.T) {
	srv := redistest.Start(t)
	for range 10 {
		s := openAt(t, srv)
		m := still(1_000_000)
		l := startLoad(s, 16, func(int, int) weir.Entry { return one("k", m) })
		l.progress(t, 50)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for _, err := range l.end() {
			wantCode(t, err, weir.CodeClosed)
		}
	}
}

func TestAllowDownStartsWithoutAServer(t *testing.T) {
	srv := redistest.Start(t)
	srv.Stop()
	o := Options{Addrs: []string{srv.Addr()}, Deadline: 200 * time.Millisecond}
	_, err := New(context.Background(), o)
	wantCode(t, err, weir.CodeRefused)
	o.AllowDown = true
	s := open(t, o)
	m := still(10)
	for range 3 {
		var late lateness
		deadline := time.Now().Add(o.Deadline)
		late.expect(deadline.Add(time.Millisecond)) // Decide takes its own now
		wantCode(t, decide(s, one("k", m)).Err, weir.CodeRefused)
		late.done(deadline)
		late.check(t)
	}
	srv.Restart()
	eventually(t, "an answer once the server is up", func() error { return decide(s, one("k", m)).Err })
}

func TestAllowDownClusterStartsWithoutAServer(t *testing.T) {
	srv := redistest.Start(t)
	srv.Stop()
	s := open(t, Options{Addrs: []string{srv.Addr()}, Mode: Cluster, AllowDown: true, Deadline: 50 * time.Millisecond})
	wantCode(t, decide(s, one("k", still(10))).Err, weir.CodeClusterDown)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := s.Reset(ctx, "k"); err == nil {
		t.Error("reset a key that no node serves")
	}
}
