package fastlane

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// holding serves a method that answers nothing: the calls are the test's.
func holding(t *testing.T, o Options) (s *Server, addr string, calls <-chan *Call) {
	held := make(chan *Call, 1024)
	o.Methods = map[string]Handler{echoPath: HandlerFunc(func(c *Call, msg []byte) {
		c.scratch = append(c.Buffer(), msg...)
		held <- c
	})}
	s, addr = start(t, o)
	return s, addr, held
}

// reply answers with what was asked.
func reply(c *Call) { c.Reply(c.scratch) }

// soon fails the test when f takes long: it must not wait for a peer.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal(what + " waits")
	}
}

// TestCork answers calls of many connections in a row: nothing is written before
// the last, and then by who answered, but for the connections that are too many.
func TestCork(t *testing.T) {
	const peers, each = mostWritten + 4, 5
	k := new(Cork)
	s, addr, calls := holding(t, Options{Cork: k})
	var all []*peer
	for range peers {
		p := newPeer(t, addr)
		all = append(all, p)
		for i := range each {
			p.call(uint32(2*i+1), echoPath, fmt.Sprint("call ", i))
		}
	}
	held := make([]*Call, peers*each)
	for i := range held {
		held[i] = <-calls
	}
	s.eachConn(func(cn *conn) { // its handlers have returned: what follows is answered later
		for busy := true; busy; runtime.Gosched() {
			cn.mu.Lock()
			busy = cn.corked
			cn.mu.Unlock()
		}
	})
	k.Begin()
	for _, c := range held {
		reply(c)
	}
	waiting, writers := 0, 0
	look := func(cn *conn) {
		cn.mu.Lock()
		defer cn.mu.Unlock()
		if len(cn.out) > 0 {
			waiting++
		}
		if cn.writer {
			writers++
		}
	}
	s.eachConn(look)
	if waiting != peers || writers != 0 {
		t.Errorf("answers of %d connections wait, %d have a writer", waiting, writers)
	}
	soon(t, "End", k.End)
	for _, p := range all {
		for id, got := range p.outcomes(each) {
			if want := fmt.Sprint("0 call ", id/2); got != want {
				t.Errorf("call %d: %q, not %q", id, got, want)
			}
		}
	}
	if s.eachConn(look); writers != peers-mostWritten {
		t.Errorf("%d connections were written by their writer", writers)
	}
	// Without Begin the writer does it.
	all[0].call(99, echoPath, "alone")
	reply(<-calls)
	if o := all[0].outcome(99); o.what != "answered" {
		t.Error(o)
	}
}

func (s *Server) eachConn(f func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for cn := range s.mu.conns {
		f(cn)
	}
}

// TestCorkSlowReader answers more than a socket holds to a peer that does not
// read: who answers does not wait, another connection has its answer, and the
// peer gets all of it once it reads, in order.
func TestCorkSlowReader(t *testing.T) {
	const many = 500
	k := new(Cork)
	_, addr, calls := holding(t, Options{Cork: k, MaxQueued: 64 << 20})
	slow, quick := rawPeer(t, addr), newPeer(t, addr)
	if err := slow.nc.(*net.TCPConn).SetReadBuffer(256 << 10); err != nil {
		t.Fatal(err)
	}
	slow.meet(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 30})
	slow.must(slow.fr.WriteWindowUpdate(0, 1<<30))
	padding := strings.Repeat("x", 60)
	for i := range many {
		slow.call(uint32(2*i+1), echoPath, fmt.Sprint(i))
	}
	held := make([]*Call, many)
	for range many {
		c := <-calls
		held[c.id/2] = c
	}
	for at := 0; at < many; at += 50 { // several batches, of which the first fills the socket
		quick.call(uint32(2*at+1), echoPath, "quick")
		k.Begin()
		for _, c := range held[at : at+50] {
			c.Reply([]byte(strings.Repeat(string(c.scratch)+padding, 16_000/(len(c.scratch)+len(padding)))))
		}
		reply(<-calls)
		soon(t, "End", k.End)
		if o := quick.outcome(uint32(2*at + 1)); o.what != "answered" {
			t.Fatal(o)
		}
	}
	for id, got := range slow.outcomes(many) {
		if !strings.HasPrefix(got, fmt.Sprint("0 ", id/2, padding)) {
			t.Errorf("call %d: %.20q", id, got)
		}
	}
}

// TestCorkOfTheDead loses connections while their calls are answered.
func TestCorkOfTheDead(t *testing.T) {
	k := new(Cork)
	gone := make(chan Reason, 10)
	_, addr, calls := holding(t, Options{Cork: k, Hooks: Hooks{Closed: func(r Reason) { gone <- r }}})
	dead, living := newPeer(t, addr), newPeer(t, addr)
	for round := range 2 { // lost before the answer, and after it
		dead.call(1, echoPath, "x")
		first := <-calls
		living.call(uint32(2*round+1), echoPath, "y")
		second := <-calls
		lose := func() {
			_ = dead.nc.(*net.TCPConn).SetLinger(0) // reset
			_ = dead.nc.Close()
		}
		k.Begin()
		if round == 0 {
			lose()
			<-gone
			reply(first)
		} else {
			reply(first)
			lose()
		}
		reply(second)
		soon(t, "End", k.End)
		if o := living.outcome(uint32(2*round + 1)); o.what != "answered" {
			t.Fatal(o)
		}
		if round == 0 {
			dead = newPeer(t, addr)
		} else {
			<-gone
		}
	}
}

// TestCorkDrain answers the last call of a server that shuts down.
func TestCorkDrain(t *testing.T) {
	k := new(Cork)
	s, addr, calls := holding(t, Options{Cork: k})
	p := newPeer(t, addr)
	p.call(1, echoPath, "x")
	c := <-calls
	down := make(chan error, 1)
	go func() { down <- s.Shutdown(t.Context()) }()
	ping := p.await(http2.FramePing).(*http2.PingFrame)
	p.must(p.fr.WritePing(true, ping.Data))
	p.await(http2.FrameGoAway)
	k.Begin()
	reply(c)
	soon(t, "End", k.End)
	if o := p.outcome(1); o.what != "answered" {
		t.Fatal(o)
	}
	p.closed()
	_ = p.nc.Close()
	if err := <-down; err != nil {
		t.Error(err)
	}
}

// TestCorkUnderLoad has several answer batches at the same time, with grpc-go's
// client on some connections.
func TestCorkUnderLoad(t *testing.T) {
	k := new(Cork)
	_, addr, calls := holding(t, Options{Cork: k})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var answering, asking sync.WaitGroup
	stop := make(chan struct{})
	for i := range 3 {
		answering.Go(func() {
			for {
				select {
				case <-stop:
					return
				case c := <-calls:
					if i > 0 { // one of them answers without
						k.Begin()
					}
					reply(c)
					for more := true; more; {
						select {
						case c := <-calls:
							reply(c)
						default:
							more = false
						}
					}
					if i > 0 {
						k.End()
					}
				}
			}
		})
	}
	for range 4 {
		cc := dial(t, addr)
		for i := range 8 {
			asking.Go(func() {
				for j := range 60 {
					in := fmt.Sprint(i, "/", j)
					if out, err := call(ctx, cc, echoPath, []byte(in)); err != nil || string(out) != in {
						t.Errorf("%q, not %q: %v", out, in, err)
						return
					}
				}
			})
		}
	}
	asking.Wait()
	close(stop)
	answering.Wait()
}
