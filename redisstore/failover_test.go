package redisstore

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// testGracefulFailover is a subtest of TestCluster.
func testGracefulFailover(t *testing.T, c *cluster) {
	const keys, capacity = 30, 200
	m := still(capacity)
	names := make([]string, keys)
	for i := range names {
		names[i] = fmt.Sprintf("{failover%d}", i)
	}
	l := startLoad(c.s, 6, func(caller, round int) weir.Entry {
		return one(names[(caller*7+round)%keys], m)
	})
	l.progress(t, 300)
	for _, primary := range c.Primaries()[:2] {
		c.Failover(c.ReplicasOf(primary)[0])
		l.progress(t, 300)
	}
	l.exhaust(t, keys*capacity)
	l.endClean(t)
	if got := l.admitted.Load(); got != keys*capacity {
		t.Errorf("%d admitted, want exactly %d", got, keys*capacity)
	}
}

// A primary dies: what it served waits for its successor, the others do not
// notice.
func TestClusterKill(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 3, 3, redistest.WithConfig("cluster-node-timeout", "1000")) // ms
	m := still(1_000_000)
	dead, alive := c.on(t, 0), c.on(t, 1)
	admit(t, c.s, one(dead, m))
	replica := c.ReplicasOf(c.Nodes()[0])[0]
	lively := startLoad(c.s, 2, func(int, int) weir.Entry { return one(alive, m) })
	lively.progress(t, 50)

	c.Nodes()[0].Stop()
	// Within a short deadline it is an error that says why, by then.
	b := weir.Batch{Entries: []weir.Entry{one(dead, m)}, Deadline: time.Now().Add(300 * time.Millisecond)}
	c.s.Decide(context.Background(), &b)
	if code := weir.CodeOf(b.Entries[0].Err); code != weir.CodeRefused {
		t.Errorf("error %v, want refused", b.Entries[0].Err)
	}
	// With a generous one it is decided by the successor.
	admit(t, c.s, one(dead, m))
	c.AwaitPromotion(replica)
	if node := c.node(dead); node != replica {
		t.Errorf("%s decided, want %s", node.Addr(), replica.Addr())
	}
	lively.progress(t, 50)
	lively.endClean(t)
	if sh := c.s.topo.Load().slots[c.s.slotOf(dead)]; sh == nil || sh.addr != replica.Addr() {
		t.Error("the store did not learn who serves the slot")
	}
}

// A primary that hangs is replaced, and leaves the topology while entries wait
// for it. Their deadlines are kept all the same.
func TestClusterStoppedPrimaryDeadlinesAreKept(t *testing.T) {
	c := startCluster(t, 3, 3, redistest.WithConfig("cluster-node-timeout", "1000")) // ms
	s := open(t, func() Options { o := c.opts; o.ConnTimeout = 2 * time.Second; return o }())
	m := still(1_000_000)
	k := c.on(t, 0)
	admit(t, s, one(k, m))
	replica := c.ReplicasOf(c.Nodes()[0])[0]
	c.Nodes()[0].Pause()
	var late lateness
	var failed atomic.Int64
	var wg sync.WaitGroup
	for caller := range 10 {
		wg.Go(func() {
			// Up to almost as long as a hung connection takes to be given up, so
			// that some are with it when the topology changes.
			allowed := time.Duration(10+150*caller) * time.Millisecond
			for began := time.Now(); ; failed.Add(1) {
				deadline := time.Now().Add(allowed)
				late.expect(deadline)
				e := askBy(s, caller, one(k, m), deadline)
				if e.Err == nil {
					return
				}
				late.done(deadline)
				if time.Since(began) > generous {
					t.Errorf("no decision %v after the primary hung: %v", generous, e.Err)
					return
				}
			}
		})
	}
	wg.Wait()
	late.check(t)
	t.Logf("%d calls failed until %s took over", failed.Load(), replica.Addr())
	if sh := s.topo.Load().slots[s.slotOf(k)]; sh.addr != replica.Addr() {
		t.Errorf("%s decided", sh.addr)
	}
	c.Nodes()[0].Resume()
}
