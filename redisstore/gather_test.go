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

func (g *gatherers) submit(n int) {
	for i := range n {
		g.all.Add(1)
		b := &weir.Batch{Entries: []weir.Entry{one(fmt.Sprint("k", i), g.m)}, Deadline: time.Now().Add(generous)}
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
	s.Gather()
	s.Gather()
	g.submit(20)
	s.Gathered()
	g.submit(20)
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
