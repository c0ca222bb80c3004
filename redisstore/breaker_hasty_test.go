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
