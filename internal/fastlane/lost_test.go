package fastlane

import (
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// losing is a listener whose connections lose their peer: TCP's own time is over.
type losing struct {
	net.Listener
	conns chan *lost
}

type lost struct {
	net.Conn
	gone atomic.Bool
}

func (l losing) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &lost{Conn: nc}
	l.conns <- c
	return c, nil
}

func (c *lost) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.gone.Load() {
		return 0, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ETIMEDOUT)}
	}
	return n, err
}

// TestLostPeerIsNoHandshake: both are timeouts, and one is no fault of the peer's.
func TestLostPeerIsNoHandshake(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := losing{ln, make(chan *lost, 1)}
	why := make(chan Reason, 1)
	s := New(Options{Methods: map[string]Handler{echoPath: echo}, Hooks: Hooks{Closed: func(r Reason) { why <- r }}})
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	p := newPeer(t, ln.Addr().String())
	p.call(1, echoPath, "x")
	p.outcome(1)
	(<-l.conns).gone.Store(true)
	_ = p.nc.Close()
	select {
	case r := <-why:
		if r == Handshake {
			t.Errorf("closed by %v", r)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("not closed")
	}
}
