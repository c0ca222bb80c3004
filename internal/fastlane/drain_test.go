package fastlane

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestShutdown looks at the frames of a shutdown: what was asked before the
// peer could know is answered, what comes after is not.
func TestShutdown(t *testing.T) {
	held := make(chan *Call, 2)
	var served atomic.Int64
	s, addr := start(t, Options{Methods: map[string]Handler{
		echoPath:          HandlerFunc(func(c *Call, msg []byte) { served.Add(1); c.Reply(msg) }),
		"/test.Echo/Held": HandlerFunc(func(c *Call, _ []byte) { held <- c }),
	}})
	p := newPeer(t, addr)
	p.call(1, "/test.Echo/Held", "")
	c := <-held
	down := make(chan error, 1)
	go func() { down <- s.Shutdown(t.Context()) }()

	if f := p.await(http2.FrameGoAway).(*http2.GoAwayFrame); f.LastStreamID != maxStreamID || f.ErrCode != 0 {
		t.Fatalf("first %v", f)
	}
	ping := p.await(http2.FramePing).(*http2.PingFrame)
	p.call(3, echoPath, "crossed")
	if o := p.outcome(3); o.what != "answered" {
		t.Fatal(o)
	}
	p.must(p.fr.WritePing(true, ping.Data))
	if f := p.await(http2.FrameGoAway).(*http2.GoAwayFrame); f.LastStreamID != 3 || f.ErrCode != 0 {
		t.Fatalf("second %v", f)
	}
	p.call(5, echoPath, "too late")
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("a connection was accepted")
	}
	select {
	case err := <-down:
		t.Fatalf("shut down with a call open: %v", err)
	default:
	}
	c.Reply([]byte("at last"))
	if o := p.outcome(1); o.String() != `200 0 "\x00\x00\x00\x00\aat last"` {
		t.Error(o)
	}
	p.closed() // half: the server is through
	_ = p.nc.Close()
	if err := <-down; err != nil {
		t.Error(err)
	}
	if n := served.Load(); n != 1 {
		t.Errorf("%d calls were served, not the one that crossed", n)
	}
}

// TestAfterLastGoAway sends a stream that is not served any more, with trailers:
// those that were promised an answer get it, and the promise does not grow.
func TestAfterLastGoAway(t *testing.T) {
	held := make(chan *Call, 2)
	s, addr := start(t, Options{Methods: map[string]Handler{echoPath: HandlerFunc(func(c *Call, _ []byte) { held <- c })}})
	p := newPeer(t, addr)
	p.call(1, echoPath, "")
	first := <-held
	p.call(3, echoPath, "")
	<-held
	go func() { _ = s.Shutdown(t.Context()) }()
	ping := p.await(http2.FramePing).(*http2.PingFrame)
	p.must(p.fr.WritePing(true, ping.Data))
	if f := p.await(http2.FrameGoAway).(*http2.GoAwayFrame); f.LastStreamID != 3 {
		t.Fatal(f)
	}
	p.headers(5, false, usual(echoPath)...)
	p.must(p.fr.WriteData(5, false, message("x")))
	p.headers(5, true, "x-after", "all")
	p.must(p.fr.WritePing(false, [8]byte{5}))
	p.await(http2.FramePing) // all of it was handled
	first.Reply([]byte("at last"))
	if o := p.outcome(1); o.what != "answered" {
		t.Fatal(o)
	}
	p.must(p.fr.WriteRawFrame(http2.FramePing, 0, 0, []byte("short")))
	if f := p.await(http2.FrameGoAway).(*http2.GoAwayFrame); f.LastStreamID != 3 || f.ErrCode != http2.ErrCodeFrameSize {
		t.Errorf("at an error %v", f)
	}
}

// TestShutdownDeadline shuts down with a call that is not answered.
func TestShutdownDeadline(t *testing.T) {
	held := make(chan *Call, 1)
	s, addr := start(t, Options{Methods: map[string]Handler{echoPath: HandlerFunc(func(c *Call, _ []byte) { held <- c })}})
	p := newPeer(t, addr)
	p.call(1, echoPath, "")
	<-held
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	p.closed()
	if err := s.Serve(nopListener{}); err != nil {
		t.Errorf("served again: %v", err)
	}
}

type nopListener struct{ net.Listener }

func (nopListener) Close() error { return nil }

// TestShutdownUnderLoad shuts one of two servers down while grpc-go's client
// calls: it goes to the other, and no call fails.
func TestShutdownUnderLoad(t *testing.T) {
	o := Options{Methods: map[string]Handler{echoPath: later(t)}, Fallback: drained}
	one, first := start(t, o)
	_, second := start(t, o)
	var target atomic.Value
	target.Store(first)
	cc := dial(t, "passthrough:///weir", grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", target.Load().(string))
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var made atomic.Int64
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := call(ctx, cc, echoPath, []byte("x")); err != nil {
					t.Errorf("a call failed: %v", err)
					return
				}
				made.Add(1)
			}
		})
	}
	for made.Load() < 200 {
		time.Sleep(time.Millisecond)
	}
	target.Store(second)
	if err := one.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	at := made.Load()
	for made.Load() < at+200 && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	close(stop)
	all.Wait()
}

// TestClose closes with a call and a stream open: the handler is told, the
// caller sees Unavailable.
func TestClose(t *testing.T) {
	began := make(chan struct{}, 2)
	told := make(chan struct{})
	s, addr := start(t, Options{
		Methods: map[string]Handler{echoPath: HandlerFunc(func(*Call, []byte) { began <- struct{}{} })},
		Fallback: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			began <- struct{}{}
			<-r.Context().Done()
			close(told)
		}),
	})
	cc := dial(t, addr)
	failed := make(chan error, 2)
	for _, path := range []string{echoPath, "/other/Method"} {
		go func() {
			_, err := call(t.Context(), cc, path, nil)
			failed <- err
		}()
		<-began
	}
	_ = s.Close()
	<-told
	for range 2 {
		if err := <-failed; status.Code(err) != codes.Unavailable {
			t.Errorf("failed by %v", err)
		}
	}
}
