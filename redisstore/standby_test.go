package redisstore

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/redistest"
)

// onStandby waits until so many flights of the first shard are, and returns them.
func onStandby(t *testing.T, s *Store, want int) (ready []*flight) {
	t.Helper()
	sh := s.topo.Load().shards[0]
	eventually(t, fmt.Sprint(want, " on standby"), func() error {
		sh.mu.Lock()
		defer sh.mu.Unlock()
		if len(sh.mu.ready) != want || sh.mu.waiting != flightsPerShard {
			return fmt.Errorf("%d are on standby, %d idle", len(sh.mu.ready), sh.mu.waiting)
		}
		ready = append(ready[:0], sh.mu.ready...)
		return nil
	})
	return ready
}

// A request that comes alone is sent by who asks: nobody is woken for it.
func TestStandbyIsSentAtOnce(t *testing.T) {
	srv := redistest.Start(t)
	g := gathering(t, srv)
	for range 20 {
		admit(t, g.s, one("k", g.m))
		onStandby(t, g.s, 1)
		srv.Pause()
		g.submit(1)
		if err := queueLength(g.s, 0); err != nil {
			t.Error(err)
		}
		srv.Resume()
		g.all.Wait()
	}
	if got := used(t, g.s, "k", g.m); got != 20 {
		t.Errorf("%d units in use, want 20", got)
	}
}

// So is what was gathered, by who gathered last; after it the flight waits to be woken.
func TestStandbyIsSentByWhoGathered(t *testing.T) {
	srv := redistest.Start(t)
	g := gathering(t, srv)
	admit(t, g.s, one("k", g.m))
	onStandby(t, g.s, 1)
	srv.Pause()
	g.s.Gather()
	g.submit(fewAboard + 1)
	if err := queueLength(g.s, fewAboard+1); err != nil {
		t.Error(err)
	}
	g.s.Gathered()
	if err := queueLength(g.s, 0); err != nil {
		t.Error(err)
	}
	srv.Resume()
	g.all.Wait()
	onStandby(t, g.s, 0)
	admit(t, g.s, one("k", g.m)) // and is woken
	onStandby(t, g.s, 1)
}

// What a socket does not take is sent by the flight, once.
func TestStandbySendsTheRest(t *testing.T) {
	srv := redistest.Start(t)
	g := gathering(t, srv)
	admit(t, g.s, one("k", g.m))
	f := onStandby(t, g.s, 1)[0]
	if err := f.stand.link.plain.Conn.(*net.TCPConn).SetWriteBuffer(1 << 10); err != nil {
		t.Fatal(err)
	}
	srv.Pause()
	g.s.Gather()
	const keys = 40
	long := strings.Repeat("long", 15_000)
	for i := range keys {
		g.all.Add(1)
		b := &weir.Batch{Entries: []weir.Entry{one(fmt.Sprint(long, i), g.m)}, Deadline: time.Now().Add(generous)}
		g.s.Submit(b, func(b *weir.Batch) {
			if e := &b.Entries[0]; e.Err != nil || !e.Admitted {
				t.Errorf("admitted %v, %v", e.Admitted, e.Err)
			}
			g.all.Done()
		})
	}
	g.s.Gathered()
	if len(f.stand.sent.rest) == 0 {
		t.Error("all was sent at once: this shows nothing")
	}
	srv.Resume()
	g.all.Wait()
	for i := range keys {
		if got := used(t, g.s, fmt.Sprint(long, i), g.m); got != 1 {
			t.Errorf("%d units of key %d in use, want 1", got, i)
		}
	}
}

// Who has given up before it is sent is not sent.
func TestStandbyOfNobody(t *testing.T) {
	srv := redistest.Start(t)
	g := gathering(t, srv)
	admit(t, g.s, one("k", g.m))
	onStandby(t, g.s, 1)
	before := srv.CommandStats()["evalsha"]
	g.s.Gather()
	e := askBy(g.s, 0, one("late", g.m), time.Now().Add(5*time.Millisecond))
	wantCode(t, e.Err, weir.CodeTimeout)
	sh := g.s.topo.Load().shards[0]
	// One that has given up and is still in the queue.
	b := &weir.Batch{Entries: []weir.Entry{one("k", g.m)}, Deadline: time.Now().Add(generous)}
	var gone sync.WaitGroup
	gone.Add(1)
	g.s.Submit(b, func(*weir.Batch) { gone.Done() })
	sh.mu.Lock()
	it := sh.mu.queue[0]
	sh.mu.Unlock()
	if !it.claim() {
		t.Fatal("it is not to be had")
	}
	it.fail(timeoutError(nil))
	gone.Wait()
	g.s.Gathered()
	onStandby(t, g.s, 0) // the flight had none aboard, and was roused
	if got := srv.CommandStats()["evalsha"] - before; got != 0 {
		t.Errorf("%d calls were made for nobody", got)
	}
	admit(t, g.s, one("k", g.m))
	onStandby(t, g.s, 1)
}

// A flight on standby learns that its server has gone, and nothing is sent there.
func TestStandbyAtAServerThatGoes(t *testing.T) {
	srv := redistest.Start(t)
	var lost losses
	s := open(t, Options{Addrs: []string{srv.Addr()}, Hooks: lost.hooks()})
	m := still(1000)
	warm(t, s, srv)
	for range 5 {
		admit(t, s, one("k", m))
		onStandby(t, s, 1)
		srv.Restart()
		onStandby(t, s, 0)
		admit(t, s, one("k", m))
	}
	if got := lost.of(weir.LossUncertain); got != 0 {
		t.Errorf("nobody knows of %d entries whether they were decided", got)
	}
}

// What nobody asks for ends at the connection's deadline, and is there again.
func TestStandbyEndsWithoutWork(t *testing.T) {
	srv := redistest.Start(t)
	s := open(t, Options{Addrs: []string{srv.Addr()}, ConnTimeout: 300 * time.Millisecond})
	m := still(1000)
	for range 2 {
		admit(t, s, one("k", m))
		f := onStandby(t, s, 1)[0]
		l := f.stand.link
		onStandby(t, s, 0)
		admit(t, s, one("k", m))
		if f = onStandby(t, s, 1)[0]; f.stand.link != l {
			t.Error("another connection was made")
		}
	}
}

// A node that is left has nobody on standby.
func TestStandbyLeaves(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(1000)
	warm(t, s, srv)
	admit(t, s, one("k", m))
	n := onStandby(t, s, 1)[0].stand.node
	s.topo.Load().shards[0].leave()
	onStandby(t, s, 0)
	awaitUnused(t, n)
	admit(t, s, one("k", m))
	if onStandby(t, s, 1)[0].stand.node == n {
		t.Error("the node is still used")
	}
}

// awaitUnused waits until a node is let go.
func awaitUnused(t *testing.T, n *sharedNode) {
	t.Helper()
	eventually(t, "the node to be let go", func() error {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.mu.users > 0 {
			return errors.New("it is in use")
		}
		return nil
	})
}

// Nor does one stand by at a node that was left while it got ready.
func TestStandbyIsTooLate(t *testing.T) {
	srv := redistest.Start(t)
	s := openAt(t, srv)
	m := still(1000)
	warm(t, s, srv)
	sh := s.topo.Load().shards[0]
	n, err := sh.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l, err := n.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f := newFlight(s)
	f.stand.node, f.stand.link = n, newLink(l, n.limit) // as equip does
	sh.leave()
	sh.mu.Lock()
	sh.awaitLocked(f)
	sh.mu.Unlock()
	if f.stand.away || f.stand.node != nil {
		t.Error("it stood by")
	}
	awaitUnused(t, n)
	admit(t, s, one("k", m))
}

// What has to be redirected is left to the flight itself, which is roused for it.
func TestStandbyIsRousedForDeclared(t *testing.T) {
	c := redistest.StartCluster(t, 3, 0)
	s := open(t, Options{Mode: Cluster, Addrs: c.Addrs()})
	m := still(1000)
	for _, sh := range s.topo.Load().shards { // one of them serves the key
		for i := range 100 {
			key := fmt.Sprint("k", i)
			if s.topo.Load().slots[s.slotOf(key)] != sh {
				continue
			}
			admit(t, s, one(key, m))
			eventually(t, "standby", func() error {
				sh.mu.Lock()
				defer sh.mu.Unlock()
				if len(sh.mu.ready) != 1 || sh.mu.waiting != flightsPerShard {
					return errors.New("not yet")
				}
				return nil
			})
			b := &weir.Batch{Entries: []weir.Entry{one(key, m)}, Deadline: time.Now().Add(generous)}
			var done sync.WaitGroup
			done.Add(1)
			call := newCall(s, b, func(*weir.Batch) { done.Done() })
			it := &call.items[0]
			now := s.now()
			it.init(&b.Entries[0], call, now, now+generous)
			it.declared = true
			call.scratch = it.identify(call.scratch)
			sh.enqueue(it)
			done.Wait()
			if e := &b.Entries[0]; e.Err != nil || !e.Admitted {
				t.Errorf("admitted %v, %v", e.Admitted, e.Err)
			}
			break
		}
	}
}

// What the flight itself has to do when another has sent it, or could not.
func TestStandbyAnswerOf(t *testing.T) {
	reply := func(conn net.Conn) { _, _ = conn.Write([]byte("$1\r\nx\r\n")) }
	read := func(l *link) *flight {
		f := &flight{}
		f.found.reset()
		_ = l.extend(time.Now())
		f.stand.sent.began = time.Now()
		return f
	}
	s := &shard{}

	// The deadline of the call before came just when this one's was set.
	l := dialLink(t, reply)
	f := read(l)
	f.stand.read = os.ErrDeadlineExceeded
	if err := s.answerOf(f, l); err != nil || told(&f.found) != "$x" {
		t.Errorf("%q, %v", told(&f.found), err)
	}

	// Its own.
	l = dialLink(t, func(net.Conn) {})
	f = read(l)
	f.stand.read = os.ErrDeadlineExceeded
	l.roused()
	if err := s.answerOf(f, l); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("late: %v", err)
	}

	// It was not sent, whatever was read.
	f.stand.sent.err = &notSentError{io.EOF}
	if err := s.answerOf(f, l); err != f.stand.sent.err {
		t.Errorf("not sent: %v", err)
	}

	// The rest of it cannot be sent either.
	f = read(l)
	f.stand.sent.rest = []byte("rest")
	l.close()
	err := s.answerOf(f, l)
	if e, again := classify(err); again || !mayHaveRun(e) {
		t.Errorf("sent in part: %v", err)
	}
}
