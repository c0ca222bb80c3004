package fastlane

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/experimental"
)

// pooled is a grpc-go server with a pool, whose streams are served by f.
func pooled(t *testing.T, f func(grpc.ServerStream) error) Options {
	pool := NewPool()
	g := grpc.NewServer(experimental.BufferPool(pool), grpc.ForceServerCodec(rawCodec{}),
		grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error { return f(s) }))
	t.Cleanup(g.Stop)
	return Options{Fallback: g, Pool: pool, MaxMessage: 64 << 10}
}

// TestSlowHandlerIsNotBuriedInBytes sends to a stream whose handler takes
// nothing until it is told to, single bytes and large messages: only so much is
// read, all the rest arrives when the handler goes on.
func TestSlowHandlerIsNotBuriedInBytes(t *testing.T) {
	goOn, counted := make(chan struct{}), make(chan int, 1)
	o := pooled(t, func(s grpc.ServerStream) error {
		<-goOn
		n := 0
		for {
			var in []byte
			if err := s.RecvMsg(&in); err != nil {
				counted <- n
				if err == io.EOF {
					return nil
				}
				return err
			}
			n += len(in)
		}
	})
	_, addr := start(t, o)
	p := newPeer(t, addr)
	p.headers(1, false, usual("/slow.Stream/Take")...)
	window, sent := 65535, 0
	send := func(b []byte) { // what the window allows
		for len(b) > 0 {
			if n := min(len(b), window, maxFrame); n > 0 {
				p.must(p.fr.WriteData(1, false, b[:n]))
				b = b[n:]
				window -= n
				continue
			}
			for window == 0 {
				if f := p.await(http2.FrameWindowUpdate).(*http2.WindowUpdateFrame); f.StreamID == 1 {
					window += int(f.Increment)
				}
			}
		}
	}
	lent := func() int {
		o.Pool.mu.Lock()
		defer o.Pool.mu.Unlock()
		return len(o.Pool.mu.owners)
	}
	small := message("x")
	sent++
	for i := range small { // until each is in a buffer of its own
		send(small[i : i+1])
		for deadline := time.Now().Add(10 * time.Second); lent() <= i; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("byte %d was not read", i)
			}
		}
	}
	for range 500 { // each byte by itself: they would be 3000 buffers of 16 KiB
		for i := range small {
			send(small[i : i+1])
		}
		sent++
	}
	big := message(strings.Repeat("b", 60_000))
	for range 2 { // more than the window that is left: it stays shut
		if window > len(big) {
			send(big)
			sent += 60_000
		}
	}
	time.Sleep(20 * time.Millisecond) // in which more would be read
	if n, most := lent(), freeLoans+2*(64<<10+grpcPrefixLen)/maxFrame+2; n > most {
		t.Errorf("%d buffers are read into, %d at most", n, most)
	}
	close(goOn)
	for range 40 {
		send(big)
		sent += 60_000
	}
	p.must(p.fr.WriteData(1, true, nil))
	if n := <-counted; n != sent {
		t.Errorf("%d bytes of messages arrived, %d were sent", n, sent)
	}
	if o := p.outcome(1); o.fields["grpc-status"] != "0" {
		t.Error(o)
	}
	for deadline := time.Now().Add(10 * time.Second); lent() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d buffers are still known", lent())
		}
	}
}

// TestLargestMessageInBytes sends the largest message byte by byte to a handler
// that waits for it.
func TestLargestMessageInBytes(t *testing.T) {
	o := pooled(t, func(s grpc.ServerStream) error {
		var in []byte
		if err := s.RecvMsg(&in); err != nil {
			return err
		}
		return s.SendMsg(&in)
	})
	_, addr := start(t, o)
	p := newPeer(t, addr, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20})
	p.must(p.fr.WriteWindowUpdate(0, 1<<20))
	p.headers(1, false, usual("/slow.Stream/Echo")...)
	big := message(strings.Repeat("z", 64<<10))
	var all []byte
	for i := range big {
		all = append(appendFrame(all, 1, frameData, 0, 1), big[i])
	}
	all = appendFrame(all, 0, frameData, flagEndStream, 1)
	go func() { _, _ = p.nc.Write(all) }()
	if o := p.outcome(1); o.body != string(big) {
		t.Errorf("%d bytes, %v", len(o.body), o.fields)
	}
}

// TestTailOfMessage sends messages in small parts, each read by itself, on a stream
// that goes on: nothing follows that would fill the last buffer.
func TestTailOfMessage(t *testing.T) {
	o := pooled(t, func(s grpc.ServerStream) error {
		for {
			var in []byte
			if err := s.RecvMsg(&in); err != nil {
				return err
			}
			if err := s.SendMsg(&in); err != nil {
				return err
			}
		}
	})
	_, addr := start(t, o)
	p := newPeer(t, addr)
	p.headers(1, false, usual("/slow.Stream/Echo")...)
	for range 3 {
		msg := message(strings.Repeat("z", 2000))
		want := len(msg)
		for len(msg) > 0 {
			n := min(100, len(msg))
			p.must(p.fr.WriteData(1, false, msg[:n]))
			msg = msg[n:]
			time.Sleep(2 * time.Millisecond) // else several are read together
		}
		for got := 0; got < want; {
			got += len(p.await(http2.FrameData).(*http2.DataFrame).Data())
		}
	}
}

// TestStreamsOfFallbackAreBounded opens one more than there may be.
func TestStreamsOfFallbackAreBounded(t *testing.T) {
	o := pooled(t, func(s grpc.ServerStream) error { <-s.Context().Done(); return s.Context().Err() })
	o.MaxFallback = 2
	_, addr := start(t, o)
	p := newPeer(t, addr)
	for id := uint32(1); id < 7; id += 2 {
		p.headers(id, false, usual("/slow.Stream/Wait")...)
	}
	if o := p.outcome(5); o.String() != "reset REFUSED_STREAM" {
		t.Error(o)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	p.must(p.fr.WriteRSTStream(1, http2.ErrCodeCancel))
	for id := uint32(7); ; id += 2 { // its handler takes a moment to end
		p.headers(id, true, usual("/slow.Stream/Wait")...)
		p.must(p.fr.WritePing(false, [8]byte{}))
		if f := p.next(); f.Header().Type == http2.FramePing {
			return
		}
		p.await(http2.FramePing)
		if ctx.Err() != nil {
			t.Fatal("still refused")
		}
	}
}
