package main

import (
	"errors"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/nowait"
)

// TestBoundConnections: beyond the bound a connection waits until one is
// closed, and who waits to accept one ends with the listener.
func TestBoundConnections(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := boundConnections(inner, 2)
	accepted := make(chan net.Conn)
	ended := make(chan error, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				ended <- err
				return
			}
			accepted <- c
		}
	}()
	for range 3 {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
	}
	first, second := <-accepted, <-accepted
	select {
	case <-accepted:
		t.Error("a third was accepted")
	case <-time.After(50 * time.Millisecond):
	}
	_ = first.Close()
	_ = first.Close() // gives its place back once
	third := <-accepted
	_ = l.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	_ = l.Close()
	_ = second.Close()
	_ = third.Close()
	if n := len(l.(*boundListener).slots); n != 0 {
		t.Errorf("%d places are still held", n)
	}
}

// TestLoadWatch: requests that were kept out say nothing of the store, and are
// told once.
func TestLoadWatch(t *testing.T) {
	var w storeWatch
	h := w.hooks(weir.Hooks{Degraded: func(*weir.Decision, error) {}, StoreCall: func(weir.StoreCall) {}})
	for i, step := range []struct {
		shed          int
		changed, over bool
	}{{0, false, false}, {3, true, true}, {1, false, true}, {0, true, false}, {0, false, false}} {
		for range step.shed {
			h.Degraded(&weir.Decision{}, &weir.Error{Code: weir.CodeOverload})
		}
		if w.look() || w.away {
			t.Errorf("step %d: the store is taken to be away", i)
		}
		if changed := w.load.look(); changed != step.changed || w.load.over != step.over {
			t.Errorf("step %d: changed %v, over %v", i, changed, w.load.over)
		}
	}
}

// TestConnectionsAreDirect: what is accepted for the fast lane can be written to
// without waiting, whatever is wrapped around it on the way.
func TestConnectionsAreDirect(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux is there a way to write without waiting")
	}
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := answerHTTP1(boundConnections(inner, 2))
	defer func() { _ = l.Close() }()
	there, err := net.Dial("tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = there.Close() }()
	here, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = here.Close() }()
	if nowait.New(here) == nil {
		t.Errorf("%T has no descriptor", here)
	}
}
