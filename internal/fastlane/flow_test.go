package fastlane

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

// TestTinyWindows has a peer give windows of a few bytes, to the stream or to
// the connection, and looks that no more is sent than they allow and all of it in
// the end.
func TestTinyWindows(t *testing.T) {
	_, addr := start(t, Options{Methods: map[string]Handler{echoPath: echo}})
	long := strings.Repeat("0123456789", 30)
	for _, step := range []uint32{1, 7, 100, 304, 305, 306} {
		t.Run(fmt.Sprint(step), func(t *testing.T) {
			p := newPeer(t, addr, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
			p.call(1, echoPath, long)
			var got string
			allowed := 0
			for len(got) < grpcPrefixLen+len(long) {
				p.must(p.fr.WriteWindowUpdate(1, step))
				allowed += int(step)
				for len(got) < min(allowed, grpcPrefixLen+len(long)) {
					got += string(p.await(http2.FrameData).(*http2.DataFrame).Data())
					if len(got) > allowed {
						t.Fatalf("%d bytes were sent, %d allowed", len(got), allowed)
					}
				}
			}
			if got != string(message(long)) {
				t.Errorf("got %q", got)
			}
			if f := p.await(http2.FrameHeaders).(*http2.HeadersFrame); !f.StreamEnded() {
				t.Error("no end")
			}
		})
	}
}

// TestConnectionWindow fills the window of the connection with many answers.
// They are sent in the order they were given as it opens.
func TestConnectionWindow(t *testing.T) {
	_, addr := start(t, Options{Methods: map[string]Handler{echoPath: echo}})
	p := newPeer(t, addr)
	const each, calls = 10_000, 20 // 65535 is enough for six and a half
	msg := strings.Repeat("x", each)
	for i := range uint32(calls) {
		p.call(1+2*i, echoPath, msg)
	}
	got := make(map[uint32]int)
	total, allowed, ended, last := 0, defaultWindow, 0, uint32(0)
	for ended < calls {
		switch f := p.next().(type) {
		case *http2.DataFrame:
			if f.StreamID < last {
				t.Errorf("stream %d after %d", f.StreamID, last)
			}
			last = f.StreamID
			got[f.StreamID] += len(f.Data())
			total += len(f.Data())
			if total > allowed {
				t.Fatal("more than the window")
			}
			if total == allowed {
				p.must(p.fr.WriteWindowUpdate(0, defaultWindow))
				allowed += defaultWindow
			}
		case *http2.HeadersFrame:
			if f.StreamEnded() {
				ended++
				if got[f.StreamID] != each+grpcPrefixLen {
					t.Errorf("stream %d has %d bytes", f.StreamID, got[f.StreamID])
				}
			}
		}
	}
}

// TestInitialWindowChanges lowers the window of a stream below nothing, and
// raises it again.
func TestInitialWindowChanges(t *testing.T) {
	_, addr := start(t, Options{Methods: map[string]Handler{echoPath: echo}})
	set := func(v uint32) http2.Setting { return http2.Setting{ID: http2.SettingInitialWindowSize, Val: v} }
	p := newPeer(t, addr, set(10))
	p.call(1, echoPath, "0123456789")
	if f := p.await(http2.FrameData).(*http2.DataFrame); len(f.Data()) != 10 {
		t.Fatalf("%d bytes", len(f.Data()))
	}
	p.must(p.fr.WriteSettings(set(0))) // now 10 below nothing
	p.must(p.fr.WriteWindowUpdate(1, 10))
	p.must(p.fr.WritePing(false, [8]byte{}))
	for {
		f := p.next()
		if _, ok := f.(*http2.DataFrame); ok {
			t.Fatal("DATA without a window")
		}
		if _, ok := f.(*http2.PingFrame); ok {
			break
		}
	}
	p.must(p.fr.WriteSettings(set(5)))
	if f := p.await(http2.FrameData).(*http2.DataFrame); len(f.Data()) != 5 {
		t.Fatalf("%d bytes", len(f.Data()))
	}
	if o := p.outcome(1); o.what != "answered" {
		t.Error(o)
	}
}

// TestReceiveWindow sends more than the windows of the connection at first, in
// calls and to the fallback: they are given back.
func TestReceiveWindow(t *testing.T) {
	_, addr := start(t, Options{Methods: map[string]Handler{echoPath: echo}, Fallback: drained})
	cc := dial(t, addr)
	big := []byte(strings.Repeat("b", 60_000))
	for range 60 {
		if out, err := call(t.Context(), cc, echoPath, big); err != nil || len(out) != len(big) {
			t.Fatalf("%d bytes, %v", len(out), err)
		}
	}
	resp, err := h2c().Post("http://"+addr+"/sum", "text/plain", strings.NewReader(strings.Repeat("s", 3<<20)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("X-Sum"); got != fmt.Sprint(3<<20) {
		t.Errorf("%s bytes were read", got)
	}
}

// TestReceiveWindowIsKept sends more than a stream's window while nobody reads.
func TestReceiveWindowIsKept(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	s, addr := start(t, Options{Fallback: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stuck })})
	p := newPeer(t, addr)
	p.headers(1, false, usual("/stuck")...)
	for sent := int64(0); sent <= s.window; sent += 10_000 {
		p.must(p.fr.WriteData(1, false, make([]byte, 10_000)))
	}
	if o := p.outcome(1); o.String() != "reset FLOW_CONTROL_ERROR" {
		t.Error(o)
	}
}
