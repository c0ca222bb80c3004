package httplimit

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// script is a server that answers as written, one response a request, and
// remembers when what came.
type script struct {
	t       *testing.T
	answers []answer
	at      []time.Duration
	bodies  []string
	open    int // response bodies that nobody has closed
	began   time.Time
}

type answer struct {
	status int
	fields []string
	err    error
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.at = append(s.at, time.Since(s.began))
	body := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			s.t.Error(err)
		}
		body = string(b)
		_ = r.Body.Close()
	}
	s.bodies = append(s.bodies, body)
	if len(s.answers) == 0 {
		s.t.Fatal("one request too many")
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	if a.err != nil {
		return nil, a.err
	}
	s.open++
	return &http.Response{
		StatusCode: a.status, Header: header(a.fields...), Request: r,
		Body: &closing{strings.NewReader("answer"), func() { s.open-- }},
	}, nil
}

type closing struct {
	io.Reader
	done func()
}

func (c *closing) Close() error {
	if c.done != nil {
		c.done()
		c.done = nil
	}
	return nil
}

func denied(after string) answer { return answer{429, []string{"Retry-After", after}, nil} }

var fine = answer{status: 200}

// most draws the longest that can be.
func most(n int64) int64 { return n - 1 }
func none(int64) int64   { return 0 }

func request(t *testing.T, method, body string) *http.Request {
	t.Helper()
	var b io.Reader
	if body != "" {
		b = strings.NewReader(body)
	}
	r, err := http.NewRequest(method, "http://api.test/x", b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTransportRetries(t *testing.T) {
	const (
		s  = time.Second
		ms = time.Millisecond
	)
	gone := func(r *http.Request) { r.GetBody = nil }
	key := func(r *http.Request) { r.Header.Set("Idempotency-Key", "1") }
	for _, tc := range []struct {
		name    string
		method  string
		body    string
		change  func(*http.Request)
		tr      *Transport
		answers []answer
		status  int
		at      []time.Duration
	}{
		{"allowed", "GET", "", nil, &Transport{}, []answer{fine}, 200, []time.Duration{0}},
		{"denied once", "GET", "", nil, &Transport{}, []answer{denied("2"), fine}, 200, []time.Duration{0, 2 * s}},
		{"denied, POST", "POST", "hello", nil, &Transport{}, []answer{denied("2"), denied("1"), fine}, 200, []time.Duration{0, 2 * s, 3 * s}},
		{"denied until a date", "GET", "", nil, &Transport{}, []answer{{429, []string{"Retry-After", "Sat, 01 Jan 2000 00:00:07 GMT"}, nil}, fine}, 200, []time.Duration{0, 7 * s}},
		{"denied, when RateLimit says", "GET", "", nil, &Transport{MaxPace: -1}, []answer{{429, []string{"RateLimit", `"a";r=0;t=4`}, nil}, fine}, 200, []time.Duration{0, 4 * s}},
		{"denied, and no word when", "GET", "", nil, &Transport{draw: most}, []answer{{status: 429}, {status: 429}, {status: 429}, fine}, 200, []time.Duration{0, 100 * ms, 300 * ms, 700 * ms}},
		{"jitter on top", "GET", "", nil, &Transport{draw: most}, []answer{denied("2"), fine}, 200, []time.Duration{0, 2*s + 100*ms}},
		{"backoff is bounded", "GET", "", nil, &Transport{draw: most, MinBackoff: s, MaxBackoff: 3 * s, MaxAttempts: 5}, []answer{{status: 429}, {status: 429}, {status: 429}, {status: 429}, fine}, 200, []time.Duration{0, s, 3 * s, 6 * s, 9 * s}},
		{"attempts are bounded", "GET", "", nil, &Transport{MaxAttempts: 2}, []answer{denied("1"), denied("1")}, 429, []time.Duration{0, s}},
		{"never again", "GET", "", nil, &Transport{MaxAttempts: 1}, []answer{denied("1")}, 429, []time.Duration{0}},
		{"time is bounded", "GET", "", nil, &Transport{MaxElapsed: 3 * s}, []answer{denied("2"), denied("2")}, 429, []time.Duration{0, 2 * s}},
		{"body is gone", "POST", "hello", gone, &Transport{}, []answer{denied("1")}, 429, []time.Duration{0}},
		{"body cannot be had", "POST", "hello", func(r *http.Request) { r.GetBody = func() (io.ReadCloser, error) { return nil, errors.New("x") } }, &Transport{}, []answer{denied("1")}, 429, []time.Duration{0}},
		{"unavailable, GET", "GET", "", nil, &Transport{}, []answer{{503, []string{"Retry-After", "1"}, nil}, fine}, 200, []time.Duration{0, s}},
		{"unavailable, PUT", "PUT", "hello", nil, &Transport{}, []answer{{status: 503}, fine}, 200, []time.Duration{0, 0}},
		{"unavailable, POST", "POST", "hello", nil, &Transport{}, []answer{{503, []string{"Retry-After", "1"}, nil}}, 503, []time.Duration{0}},
		{"unavailable, POST with a key", "POST", "hello", key, &Transport{}, []answer{{503, []string{"Retry-After", "1"}, nil}, fine}, 200, []time.Duration{0, s}},
		{"other failures", "GET", "", nil, &Transport{}, []answer{{500, []string{"Retry-After", "1"}, nil}}, 500, []time.Duration{0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := &script{t: t, answers: tc.answers, began: time.Now()}
				tr := tc.tr
				tr.Base = srv
				if tr.draw == nil {
					tr.draw = none
				}
				r := request(t, tc.method, tc.body)
				if tc.change != nil {
					tc.change(r)
				}
				before := r.Body
				resp, err := tr.RoundTrip(r)
				if err != nil || resp.StatusCode != tc.status || len(srv.answers) != 0 {
					t.Fatalf("%+v, %v; %d answers left", resp, err, len(srv.answers))
				}
				if text, err := io.ReadAll(resp.Body); string(text) != "answer" || err != nil {
					t.Errorf("the body is not whole: %q, %v", text, err)
				}
				_ = resp.Body.Close()
				if srv.open != 0 || r.Body != before {
					t.Errorf("%d bodies are open; the request was changed: %v", srv.open, r.Body != before)
				}
				for i, at := range tc.at {
					if srv.at[i] != at || srv.bodies[i] != tc.body {
						t.Errorf("attempt %d after %v with %q, want %v", i+1, srv.at[i], srv.bodies[i], at)
					}
				}
			})
		})
	}
}

// endless is a body that ends when it is closed.
type endless struct{ closed chan struct{} }

func (e endless) Read([]byte) (int, error) { <-e.closed; return 0, errors.New("closed") }
func (e endless) Close() error {
	select {
	case <-e.closed:
	default:
		close(e.closed)
	}
	return nil
}

// TestTransportDrainsForAWhile: the time that it takes to throw a body away is
// part of the wait, not added to it.
func TestTransportDrainsForAWhile(t *testing.T) {
	for after, want := range map[string]time.Duration{"0": maxDrainTime, "2": 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			began, sent := time.Now(), 0
			var second time.Duration
			tr := &Transport{draw: none, Base: roundTrip(func(r *http.Request) (*http.Response, error) {
				if sent++; sent == 1 {
					return &http.Response{StatusCode: 429, Header: header("Retry-After", after), Body: endless{make(chan struct{})}, Request: r}, nil
				}
				second = time.Since(began)
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
			})}
			resp, err := tr.RoundTrip(request(t, "GET", ""))
			if err != nil || resp.StatusCode != 200 || second != want {
				t.Errorf("after %s s: %v, %v, sent again after %v", after, resp, err, second)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTransportKeepsToItsContext(t *testing.T) {
	for _, tc := range []struct {
		name     string
		deadline time.Duration
		cancel   time.Duration
		status   int
		took     time.Duration
	}{
		{"time suffices", 2500 * time.Millisecond, 0, 200, 2 * time.Second},
		{"time does not suffice", 1500 * time.Millisecond, 0, 429, 0},
		{"given up meanwhile", time.Hour, time.Second, 0, time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tc.deadline)
				defer cancel()
				if tc.cancel > 0 {
					time.AfterFunc(tc.cancel, cancel)
				}
				srv := &script{t: t, answers: []answer{denied("2"), fine}, began: time.Now()}
				tr := &Transport{Base: srv, draw: none}
				resp, err := tr.RoundTrip(request(t, "POST", "x").WithContext(ctx))
				if took := time.Since(srv.began); took != tc.took {
					t.Errorf("took %v, want %v", took, tc.took)
				}
				switch {
				case tc.status == 0:
					if !errors.Is(err, context.Canceled) || srv.open != 0 {
						t.Errorf("%v, %d bodies open", err, srv.open)
					}
				case err != nil || resp.StatusCode != tc.status:
					t.Errorf("%v, %v", resp, err)
				}
			})
		})
	}
}

func TestTransportReturnsErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	srv := &script{t: t, answers: []answer{{err: broken}}}
	if _, err := (&Transport{Base: srv}).RoundTrip(request(t, "GET", "")); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// TestTransportSlowsDown before it is denied: 4 of 20 are left for 8 s.
func TestTransportSlowsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tight := answer{200, []string{"RateLimit", `"p";r=4;t=8`, "RateLimit-Policy", `"p";q=20;w=60`}, nil}
		srv := &script{t: t, answers: []answer{tight, fine, fine, fine, fine, fine}, began: time.Now()}
		var waits []time.Duration
		tr := &Transport{Base: srv, MaxPace: 3 * time.Second, Waiting: func(_ *http.Request, d time.Duration, again bool) {
			if !again {
				waits = append(waits, d)
			}
		}}
		for range 5 {
			if _, err := tr.RoundTrip(request(t, "GET", "")); err != nil {
				t.Fatal(err)
			}
		}
		want := []time.Duration{0, 0, 2 * time.Second, 4 * time.Second, 6 * time.Second}
		for i := range want {
			if have := srv.at[i].Round(100 * time.Millisecond); have != want[i] {
				t.Errorf("request %d at %v, want %v (waits %v)", i+1, have, want[i], waits)
			}
		}
		time.Sleep(2 * time.Second) // the limit is whole again
		if _, err := tr.RoundTrip(request(t, "GET", "")); err != nil || srv.at[5].Round(100*time.Millisecond) != 8*time.Second {
			t.Errorf("%v, then at %v", err, srv.at[5])
		}
	})
}

// TestTransportPaceIsBounded, by MaxPace and by the context.
func TestTransportPaceIsBounded(t *testing.T) {
	exhausted := answer{200, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "3600"}, nil}
	for name, tc := range map[string]struct {
		tr       *Transport
		deadline time.Duration
		want     time.Duration
	}{
		"by default":     {&Transport{}, time.Hour, DefaultMaxPace},
		"as told":        {&Transport{MaxPace: time.Second}, time.Hour, time.Second},
		"not at all":     {&Transport{MaxPace: -1}, time.Hour, 0},
		"by the context": {&Transport{}, time.Second, 0},
		"another key":    {&Transport{Key: func(r *http.Request) string { return r.Method }}, time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tc.deadline)
				defer cancel()
				srv := &script{t: t, answers: []answer{exhausted, fine}, began: time.Now()}
				tr := tc.tr
				tr.Base = srv
				for _, method := range []string{"GET", "HEAD"} {
					if _, err := tr.RoundTrip(request(t, method, "").WithContext(ctx)); err != nil {
						t.Fatal(err)
					}
				}
				if srv.at[1] != tc.want {
					t.Errorf("after %v, want %v", srv.at[1], tc.want)
				}
			})
		})
	}
}

// TestTransportLeavesTheQueue closes the body of what it never sent.
func TestTransportLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &script{t: t, answers: []answer{{200, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "3600"}, nil}}, began: time.Now()}
		tr := &Transport{Base: srv}
		if _, err := tr.RoundTrip(request(t, "GET", "")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		r, closed := request(t, "POST", "x").WithContext(ctx), false
		r.Body = &closing{strings.NewReader("x"), func() { closed = true }}
		if _, err := tr.RoundTrip(r); !errors.Is(err, context.Canceled) || !closed {
			t.Errorf("%v, closed %v", err, closed)
		}
	})
}
