package redisstore

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// A breaker closes again although nobody but callers in a hurry is left: those
// are probes when no better one came for a while.
func TestBreakerClosesForTheHasty(t *testing.T) {
	srv := redistest.Start(t)
	var seen changes
	s := open(t, Options{Addrs: []string{srv.Addr()}, Deadline: 4 * soon, Breaker: brisk, Hooks: seen.hooks()})
	warm(t, s, srv)
	mark := seen.mark()
	breakNow(s, s.topo.Load().shards[0])
	d := startDrip(t, s, 2, soon, always("k", still(1_000_000)))
	closed := seen.await(t, mark, weir.BreakerClosed)
	if waited := closed.at.Sub(seen.since(mark)[0].at); waited < hastyAfter {
		t.Errorf("one in a hurry probed after %v, want %v", waited, hastyAfter)
	}
	d.progress(t, 20)
}

// A probe whose caller went away while it was to be sent again is not waited
// for.
func TestBreakerForgetsProbesGivenUp(t *testing.T) {
	srv := redistest.Start(t)
	s := open(t, Options{Addrs: []string{srv.Addr()}, Breaker: brisk})
	sh := s.topo.Load().shards[0]
	cause := &weir.Error{Code: weir.CodeRefused}
	for name, put := range map[string]func([]*item, *weir.Error){"again": sh.again, "rest": sh.rest} {
		breakNow(s, sh)
		sh.mu.Lock()
		sh.mu.breaker.TopologyChanged(micros(s.now()))
		ticket, _ := sh.mu.breaker.Allow(micros(s.now()))
		sh.mu.Unlock()
		it := &item{probe: ticket, holder: &part{}}
		it.state.Store(done)
		put([]*item{it}, cause)
		sh.mu.Lock()
		next, ok := sh.mu.breaker.Allow(micros(s.now()))
		sh.mu.Unlock()
		if !ticket.Probe() || !ok || !next.Probe() {
			t.Errorf("%s: the next entry is no probe", name)
		}
	}
}
