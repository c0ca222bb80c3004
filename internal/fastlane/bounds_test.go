package fastlane

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// why has a server say why it closed and refused.
type why struct{ closed, refused chan Reason }

func newWhy(o *Options) why {
	w := why{make(chan Reason, 100), make(chan Reason, 10_000)}
	o.Hooks.Closed = func(r Reason) { w.closed <- r }
	o.Hooks.Refused = func(r Reason) { w.refused <- r }
	return w
}

// TestFloods sends much of what costs the peer little. Each must end the
// connection, by ENHANCE_YOUR_CALM.
func TestFloods(t *testing.T) {
	for _, c := range []struct {
		name string
		want Reason
		send func(p *peer, i uint32)
	}{
		{"rapid reset", ResetFlood, func(p *peer, i uint32) {
			p.headers(1+2*i, false, usual(echoPath)...)
			p.must(p.fr.WriteRSTStream(1+2*i, http2.ErrCodeCancel))
		}},
		{"resets the server is made to send", ResetFlood, func(p *peer, i uint32) {
			p.headers(1+2*i, false, usual(echoPath)...)
			p.must(p.fr.WriteWindowUpdate(1+2*i, 0))
		}},
		{"malformed requests", ResetFlood, func(p *peer, i uint32) { p.headers(1+2*i, true, "x", "y") }},
		{"PING", FrameFlood, func(p *peer, _ uint32) { p.must(p.fr.WritePing(false, [8]byte{})) }},
		{"SETTINGS", FrameFlood, func(p *peer, _ uint32) { p.must(p.fr.WriteSettings()) }},
		{"large SETTINGS", FrameFlood, func(p *peer, _ uint32) {
			many := make([]http2.Setting, 100)
			for i := range many {
				many[i] = http2.Setting{ID: http2.SettingInitialWindowSize, Val: uint32(i)}
			}
			p.must(p.fr.WriteSettings(many...))
		}},
		{"WINDOW_UPDATE", FrameFlood, func(p *peer, _ uint32) { p.must(p.fr.WriteWindowUpdate(0, 1)) }},
		{"PRIORITY", FrameFlood, func(p *peer, _ uint32) { p.must(p.fr.WritePriority(1, http2.PriorityParam{StreamDep: 3})) }},
		{"unknown frames", FrameFlood, func(p *peer, _ uint32) { p.must(p.fr.WriteRawFrame(200, 0, 0, nil)) }},
		{"empty DATA", FrameFlood, func(p *peer, i uint32) {
			if i == 0 {
				p.headers(1, false, usual(echoPath)...)
			}
			p.must(p.fr.WriteData(1, false, nil))
		}},
		{"CONTINUATION", FrameFlood, func(p *peer, i uint32) {
			if i == 0 {
				p.must(p.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte("\x82")}))
			}
			p.must(p.fr.WriteContinuation(1, false, nil))
		}},
		{"a long header block", FrameFlood, func(p *peer, i uint32) {
			if i == 0 {
				p.must(p.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte("\x82")}))
			}
			p.must(p.fr.WriteContinuation(1, false, make([]byte, 10_000)))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Methods: map[string]Handler{echoPath: echo}, MaxResets: 50, MaxControl: 100}
			w := newWhy(&o)
			_, addr := start(t, o)
			p := newPeer(t, addr)
			func() {
				// All in one piece: the server may close before it has read it.
				defer func(fr *http2.Framer) { p.fr = fr }(p.fr)
				var all strings.Builder
				p.fr = http2.NewFramer(&all, nil)
				p.fr.AllowIllegalWrites = true
				for i := range uint32(300) {
					c.send(p, i)
				}
				p.raw([]byte(all.String()))
			}()
			if got := p.outcome(0); got.String() != "goaway ENHANCE_YOUR_CALM" {
				t.Error(got)
			}
			_ = p.nc.Close() // or the server waits for it to read that
			if r := <-w.closed; r != c.want {
				t.Errorf("closed for %s, not %s", r, c.want)
			}
		})
	}
}

// TestBusyClientIsNoFlood makes many calls, half of them reset, with window
// updates and PINGs for each: that is what clients do.
func TestBusyClientIsNoFlood(t *testing.T) {
	_, addr := start(t, Options{Methods: map[string]Handler{echoPath: echo}, MaxResets: 20, MaxControl: 50})
	p := newPeer(t, addr)
	id := uint32(1)
	for range 100 {
		p.call(id, echoPath, "hi")
		if o := p.outcome(id); o.what != "answered" {
			t.Fatal(o)
		}
		p.must(p.fr.WriteWindowUpdate(0, 100))
		p.must(p.fr.WritePing(false, [8]byte{}))
		p.headers(id+2, false, usual(echoPath)...)
		p.must(p.fr.WriteRSTStream(id+2, http2.ErrCodeCancel))
		id += 4
	}
}

// TestTooLong does each thing too slowly.
func TestTooLong(t *testing.T) {
	const bound = 60 * time.Millisecond
	open := func(p *peer) { p.meet(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}) }
	for _, c := range []struct {
		name    string
		o       Options
		do      func(p *peer)
		closed  Reason
		refused Reason // Done: none
	}{
		{"no preface", Options{HandshakeTimeout: bound}, func(*peer) {}, Handshake, Done},
		{"half a preface", Options{HandshakeTimeout: bound}, func(p *peer) { p.raw([]byte(preface[:9])) }, Handshake, Done},
		{"no SETTINGS", Options{HandshakeTimeout: bound}, func(p *peer) { p.raw([]byte(preface)) }, Handshake, Done},
		{"idle", Options{IdleTimeout: bound}, func(p *peer) {
			open(p)
			ping := p.await(http2.FramePing).(*http2.PingFrame)
			p.must(p.fr.WritePing(true, ping.Data))
			p.closed()
			_ = p.nc.Close()
		}, Idle, Done},
		{"an incomplete request", Options{RequestTimeout: bound}, func(p *peer) {
			open(p)
			p.headers(1, false, usual(echoPath)...)
			if o := p.outcome(1); o.String() != "reset CANCEL" {
				p.t.Error(o)
			}
			_ = p.nc.Close()
		}, Done, Incomplete},
		{"an answer without a window", Options{StallTimeout: bound}, func(p *peer) {
			open(p)
			p.call(1, echoPath, "hi")
			if o := p.outcome(1); o.String() != "reset CANCEL" {
				p.t.Error(o)
			}
			_ = p.nc.Close()
		}, Done, Stalled},
		{"a stream without a window", Options{StallTimeout: bound}, func(p *peer) {
			open(p)
			p.headers(1, true, usual("/talk")...)
			if o := p.outcome(1); o.String() != "reset CANCEL" {
				p.t.Error(o)
			}
			_ = p.nc.Close()
		}, Done, Stalled},
		{"a stream without a window, beside one that is busy", Options{StallTimeout: bound}, func(p *peer) {
			open(p)
			p.headers(1, true, usual("/talk")...)
			done := make(chan struct{})
			busy := make(chan struct{})
			go func() { // each wakes those that wait
				defer close(busy)
				for {
					select {
					case <-done:
						return
					case <-time.After(bound / 10):
						_ = p.fr.WriteWindowUpdate(0, 1)
					}
				}
			}()
			if o := p.outcome(1); o.String() != "reset CANCEL" {
				p.t.Error(o)
			}
			close(done)
			<-busy
			_ = p.nc.Close()
		}, Done, Stalled},
		{"answers that are not read", Options{WriteTimeout: bound, MaxQueued: 1 << 20}, func(p *peer) {
			p.meet(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 30})
			p.must(p.fr.WriteWindowUpdate(0, 1<<30))
			p.headers(1, true, usual("/talk")...)
			time.Sleep(5 * bound) // not reading
		}, SlowReader, Done},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Methods = map[string]Handler{echoPath: echo}
			ended := make(chan struct{}, 1)
			c.o.Fallback = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for r.Context().Err() == nil {
					_, _ = fmt.Fprint(w, strings.Repeat("x", 60_000))
				}
				ended <- struct{}{}
			})
			w := newWhy(&c.o)
			_, addr := start(t, c.o)
			p := rawPeer(t, addr)
			c.do(p)
			select {
			case r := <-w.closed:
				if r != c.closed {
					t.Errorf("closed for %s, not %s", r, c.closed)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("not closed")
			}
			if c.refused != Done {
				if r := <-w.refused; r != c.refused {
					t.Errorf("refused for %s, not %s", r, c.refused)
				}
			}
			if strings.Contains(c.name, "stream") || strings.Contains(c.name, "not read") {
				<-ended
			}
		})
	}
}

// TestTooMuch asks for more than is held.
func TestTooMuch(t *testing.T) {
	o := Options{
		Methods:    map[string]Handler{echoPath: HandlerFunc(func(*Call, []byte) {})},
		MaxStreams: 4, MaxBuffered: 1000,
	}
	w := newWhy(&o)
	_, addr := start(t, o)
	p := newPeer(t, addr)
	for id := uint32(1); id < 9; id += 2 {
		p.headers(id, false, usual(echoPath)...)
	}
	p.call(9, echoPath, "one too many")
	if o := p.outcome(9); o.String() != "reset REFUSED_STREAM" {
		t.Error(o)
	}
	if r := <-w.refused; r != Overload {
		t.Error(r)
	}
	part := append([]byte{0, 0, 0, 2, 0}, make([]byte, 395)...)
	for id := uint32(1); id < 7; id += 2 {
		p.must(p.fr.WriteData(id, false, part))
	}
	if o := p.outcome(5); o.String() != `200 8 ""` {
		t.Error(o)
	}
	p.must(p.fr.WriteRSTStream(1, http2.ErrCodeCancel)) // its part is no longer held
	p.must(p.fr.WriteData(7, false, part))
	p.must(p.fr.WritePing(false, [8]byte{}))
	for {
		f := p.next()
		if _, ok := f.(*http2.PingFrame); ok {
			break
		}
		if f.Header().StreamID == 7 {
			t.Errorf("%v", f)
		}
	}
}
