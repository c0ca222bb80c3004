package redisstore

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// gatherers are a store and what was submitted to it.
type gatherers struct {
	t   *testing.T
	s   *Store
	m   *weir.Meter
	all sync.WaitGroup
}

func gathering(t *testing.T, srv *redistest.Server) *gatherers {
	g := &gatherers{t: t, s: openAt(t, srv), m: still(1_000_000)}
	warm(t, g.s, srv)
	return g
}

// submit has n come at once, however long that takes here.
func (g *gatherers) submit(n int) { g.submitAt(time.Now(), n) }

func (g *gatherers) submitAt(asked time.Time, n int) {
	for i := range n {
		g.all.Add(1)
		b := &weir.Batch{Entries: []weir.Entry{one(fmt.Sprint("k", i), g.m)}, Asked: asked, Deadline: asked.Add(generous)}
		g.s.Submit(b, func(b *weir.Batch) {
			if e := &b.Entries[0]; e.Err != nil || !e.Admitted {
				g.t.Errorf("admitted %v, %v", e.Admitted, e.Err)
			}
			g.all.Done()
		})
	}
}

// What is submitted between Gather and Gathered leaves in one call, however many
// gather at once.
func TestGather(t *testing.T) {
	srv := redistest.Start(t)
	g := gathering(t, srv)
	s := g.s
	before := srv.CommandStats()["evalsha"]
	now := time.Now()
	s.Gather()
	s.Gather()
	g.submitAt(now, 20)
	s.Gathered()
	g.submitAt(now, 20)
	if err := queueLength(s, 40); err != nil {
		t.Error(err)
	}
	if got := srv.CommandStats()["evalsha"] - before; got != 0 {
		t.Errorf("%d calls were made before all had gathered", got)
	}
	s.Gathered()
	g.all.Wait()
	if got := srv.CommandStats()["evalsha"] - before; got != 1 {
		t.Errorf("%d calls, want 1", got)
	}
	// Nothing is kept back by those who have ended, or who gather nothing.
	g.submit(1)
	g.all.Wait()
	s.Gather()
	s.Gathered()
	g.submit(1)
	g.all.Wait()
}

// What has waited for long does not wait for who lost its processor: it leaves with
// the next that comes.
func TestGatherEndsInTime(t *testing.T) {
	srv := redistest.Start(t)
	g := gathering(t, srv)
	now := time.Now()
	g.s.Gather() // and loses its processor
	g.submitAt(now, 3)
	g.submitAt(now.Add(longestGather-1), 1)
	if err := queueLength(g.s, 4); err != nil {
		t.Error(err)
	}
	g.submitAt(now.Add(longestGather), 1)
	g.all.Wait()
	g.s.Gathered()

	// While a flight is away nobody can be woken, and who comes back must look.
	srv.Pause()
	g.submit(1)
	eventually(t, "the flight to start", func() error { return queueLength(g.s, 0) })
	g.s.Gather()
	now = time.Now()
	g.submitAt(now, 3)
	g.submitAt(now.Add(longestGather), 1)
	if err := queueLength(g.s, 4); err != nil {
		t.Error(err)
	}
	srv.Resume()
	g.all.Wait()
	g.s.Gathered()
}

// Many do not wait for one who does not end; a few wait for no longer than their
// deadlines.
func TestGatherEndsWithoutGathered(t *testing.T) {
	srv := redistest.Start(t)
	g := gathering(t, srv)
	s, m := g.s, g.m
	s.Gather()
	g.submit(mostGathered)
	g.all.Wait()

	e := askBy(s, 0, one("late", m), time.Now().Add(20*time.Millisecond))
	wantCode(t, e.Err, weir.CodeTimeout)
	s.Gathered()
	if got := used(t, s, "late", m); got != 0 {
		t.Errorf("%d units in use of what was never sent", got)
	}
}

// Of a cluster every shard is woken, and one that is closed leaves nothing behind.
func TestGatherOnEveryShard(t *testing.T) {
	c := redistest.StartCluster(t, 3, 0)
	s := open(t, Options{Mode: Cluster, Addrs: c.Addrs()})
	g := &gatherers{t: t, s: s, m: still(1_000_000)}
	s.Gather()
	g.submit(30)
	s.Gathered()
	g.all.Wait()

	s.Gather()
	answered := make(chan error, 1)
	b := &weir.Batch{Entries: []weir.Entry{one("k", g.m)}, Deadline: time.Now().Add(generous)}
	s.Submit(b, func(b *weir.Batch) { answered <- b.Entries[0].Err })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wantCode(t, <-answered, weir.CodeClosed)
	s.Gathered()
}
