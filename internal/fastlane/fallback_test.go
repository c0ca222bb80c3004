package fastlane

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
)

// h2c is a client of net/http over HTTP/2 in the clear.
func h2c() *http.Client {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: p, DisableKeepAlives: true}, Timeout: 20 * time.Second}
}

// drained says how long a body is.
var drained = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	w.Header().Set("X-Sum", fmt.Sprint(n))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
})

// TestFallback has net/http's client ask for what handlers can do: what the
// request says, a status, fields, a long body and both kinds of trailers.
func TestFallback(t *testing.T) {
	long := strings.Repeat("long ", 100_000)
	_, addr := start(t, Options{Fallback: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Seen", fmt.Sprintf("%s %s %s %s %s %q", r.Method, r.Proto, r.Host, r.URL, r.Header.Get("X-Ask"), in))
		w.Header().Set("Trailer", "X-Declared, X-Unset")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, long)
		w.(http.Flusher).Flush()
		w.Header().Set("X-Declared", "one")
		w.Header().Set(http.TrailerPrefix+"X-Late", "two")
	})})
	r, _ := http.NewRequest("PUT", "http://"+addr+"/a/b?c=d", strings.NewReader("body"))
	r.Header.Set("X-Ask", "asked")
	resp, err := h2c().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || string(b) != long {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if want := fmt.Sprintf(`PUT HTTP/2.0 %s /a/b?c=d asked "body"`, addr); resp.Header.Get("X-Seen") != want {
		t.Errorf("seen %q, not %q", resp.Header.Get("X-Seen"), want)
	}
	if resp.StatusCode != http.StatusTeapot || resp.Trailer.Get("X-Declared") != "one" || resp.Trailer.Get("X-Late") != "two" {
		t.Errorf("%s, trailers %v", resp.Status, resp.Trailer)
	}
}

// TestFallbackCanceled looks that a handler learns of a reset and of the end of
// the connection.
func TestFallbackCanceled(t *testing.T) {
	ended := make(chan error, 1)
	_, addr := start(t, Options{Fallback: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		_, err := r.Body.Read(make([]byte, 1))
		<-r.Context().Done()
		ended <- err
	})})
	for name, end := range map[string]func(*peer){
		"reset":  func(p *peer) { p.must(p.fr.WriteRSTStream(1, 8)) },
		"closed": func(p *peer) { _ = p.nc.Close() },
	} {
		p := newPeer(t, addr)
		p.headers(1, false, usual("/stream")...)
		p.await(1) // HEADERS: the handler is there
		end(p)
		select {
		case err := <-ended:
			if err == nil || errors.Is(err, io.EOF) {
				t.Errorf("%s: the body ended by %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the handler was not told", name)
		}
	}
}

// TestPanics looks that a handler's panic ends its stream alone, is told, and
// that a call it has kept does not disturb others.
func TestPanics(t *testing.T) {
	told := make(chan any, 10)
	var kept *Call
	held := make(chan *Call, 1)
	_, addr := start(t, Options{
		Methods: map[string]Handler{
			echoPath:          echo,
			"/test.Echo/Boom": HandlerFunc(func(c *Call, _ []byte) { kept = c; panic("boom") }),
			"/test.Echo/Held": HandlerFunc(func(c *Call, _ []byte) { held <- c }),
			"/test.Echo/Late": HandlerFunc(func(c *Call, _ []byte) { c.Reply(nil); panic("late") }),
		},
		Fallback: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("fallback") }),
		Hooks:    Hooks{Panicked: func(v any, _ []byte) { told <- v }},
	})
	p := newPeer(t, addr)
	for id, c := range []struct{ path, want, told string }{
		{"/test.Echo/Boom", `200 13 ""`, "boom"},
		{echoPath, `200 0 "\x00\x00\x00\x00\x02hi"`, ""},
		{"/test.Echo/Late", `200 0 "\x00\x00\x00\x00\x00"`, "late"},
		{"/elsewhere", "reset INTERNAL_ERROR", "fallback"},
		{echoPath, `200 0 "\x00\x00\x00\x00\x02hi"`, ""},
	} {
		p.call(uint32(1+2*id), c.path, "hi")
		if o := p.outcome(uint32(1 + 2*id)); o.String() != c.want {
			t.Errorf("%s: %s, not %s", c.path, o, c.want)
		}
		if c.told != "" {
			if v := <-told; v != c.told {
				t.Errorf("told %v, not %s", v, c.told)
			}
		}
	}
	p.call(11, "/test.Echo/Boom", "hi")
	p.outcome(11)
	p.call(13, "/test.Echo/Held", "hi")
	c := <-held
	kept.Fail(codes.Aborted, "too late") // to nobody: it may not be the one that is held
	c.Reply(nil)
	if o := p.outcome(13); o.fields["grpc-status"] != "0" {
		t.Errorf("another was answered: %s", o)
	}
}

// TestAnswersToNobody answers calls that were reset and whose connection is gone.
func TestAnswersToNobody(t *testing.T) {
	held := make(chan *Call, 2)
	_, addr := start(t, Options{
		MaxStreams: 1,
		Methods:    map[string]Handler{echoPath: HandlerFunc(func(c *Call, _ []byte) { held <- c })},
	})
	p := newPeer(t, addr)
	p.call(1, echoPath, "a")
	first := <-held
	p.must(p.fr.WriteRSTStream(1, 8))
	p.call(3, echoPath, "b")
	if o := p.outcome(3); o.String() != "reset REFUSED_STREAM" {
		t.Fatalf("%s while the first is still in the handler", o)
	}
	first.Reply([]byte("to nobody"))
	p.call(5, echoPath, "c")
	(<-held).Reply([]byte("c"))
	if o := p.outcome(5); o.String() != `200 0 "\x00\x00\x00\x00\x01c"` {
		t.Error(o)
	}
	p.call(7, echoPath, "d")
	last := <-held
	_ = p.nc.Close()
	last.conn.mu.Lock()
	for !last.conn.dead {
		last.conn.changed.Wait()
	}
	last.conn.mu.Unlock()
	last.Fail(codes.Aborted, "to nobody")
}

// TestRefusedInFlight has much on its way to streams of the fallback that are
// refused meanwhile: it is not held against who sent it.
func TestRefusedInFlight(t *testing.T) {
	_, addr := start(t, Options{
		MaxFallback: 1,
		Methods:     map[string]Handler{echoPath: echo},
		Fallback:    http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
	})
	p := newPeer(t, addr)
	const n = 600
	for i := range uint32(n) {
		p.headers(1+2*i, false, usual("/elsewhere")...)
	}
	for i := range uint32(n) {
		p.must(p.fr.WriteData(1+2*i, false, []byte("x")))
	}
	p.call(1+2*n, echoPath, "x")
	if o := p.outcome(1 + 2*n); o.what != "answered" {
		t.Error(o)
	}
}
