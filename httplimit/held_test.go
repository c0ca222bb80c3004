package httplimit_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/httplimit"
	"github.com/weirlimit/weir/memstore"
)

// respond answers with a status, a field and a body.
func respond(status int, cost, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Cost", cost)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

func TestCosts(t *testing.T) {
	fail := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for _, tc := range []struct {
		name    string
		next    http.Handler
		options []httplimit.Option
		want    int64
	}{
		{"one", ok, nil, 1},
		{"before", ok, []httplimit.Option{httplimit.WithCost(func(*http.Request) int64 { return 4 })}, 4},
		{"free", ok, []httplimit.Option{httplimit.WithCost(func(*http.Request) int64 { return -4 })}, 0},
		{"by bytes", respond(200, "", "12345"), []httplimit.Option{httplimit.WithCostAfter(httplimit.BytesCost(2))}, 1 + 3},
		{"by bytes, none", respond(204, "", ""), []httplimit.Option{httplimit.WithCostAfter(httplimit.BytesCost(2))}, 1},
		{"by header", respond(200, " 7 ", ""), []httplimit.Option{httplimit.WithCostAfter(httplimit.HeaderCost("x-cost"))}, 1 + 7},
		{"past the limit", respond(200, "30", ""), []httplimit.Option{httplimit.WithCostAfter(httplimit.HeaderCost("x-cost"))}, 31},
		{"by nonsense", respond(200, "-7", ""), []httplimit.Option{httplimit.WithCostAfter(httplimit.HeaderCost("x-cost"))}, 1},
		{"estimated too high", ok, []httplimit.Option{
			httplimit.WithCost(func(*http.Request) int64 { return 9 }),
			httplimit.WithCostAfter(func(*http.Request, int, int64, http.Header) int64 { return -6 }),
		}, 3},
		{"refunded", respond(502, "7", ""), []httplimit.Option{
			httplimit.WithRefund(httplimit.ServerErrors), httplimit.WithCostAfter(httplimit.HeaderCost("x-cost")),
		}, 0},
		{"not refunded", respond(404, "", ""), []httplimit.Option{httplimit.WithRefund(httplimit.ServerErrors)}, 1},
		{"refunded after a panic", fail, []httplimit.Option{httplimit.WithRefund(httplimit.ServerErrors)}, 0},
	} {
		for _, kind := range []string{"async", "sync"} {
			t.Run(tc.name+" "+kind, func(t *testing.T) {
				e := decider(t, byTenant)
				var c weir.Checker = e
				if kind == "sync" {
					c = remote{e}
				}
				h := httplimit.New(c, append(tc.options, tenant)...)(tc.next)
				func() {
					defer func() { _ = recover() }()
					get(h, "/", "X-Tenant", "a")
				}()
				if n := used(t, e); n != tc.want {
					t.Errorf("%d units in use, want %d", n, tc.want)
				}
				if tc.want <= 10 {
					return
				}
				if w := get(h, "/", "X-Tenant", "a"); w.Code != 429 {
					t.Errorf("in debt: %d", w.Code)
				}
			})
		}
	}
}

// TestCostAfterOutlivesTheClient: whoever leaves early pays all the same.
func TestCostAfterOutlivesTheClient(t *testing.T) {
	e := decider(t, byTenant)
	check := checkFunc(func(ctx context.Context, r *weir.Request, d *weir.Decision) error {
		if ctx.Err() != nil {
			return &weir.Error{Code: weir.CodeCanceled}
		}
		return e.Check(ctx, r, d)
	})
	ctx, cancel := context.WithCancel(t.Context())
	h := httplimit.New(check, tenant, httplimit.WithCostAfter(httplimit.BytesCost(1)))(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("123"))
			cancel()
		}))
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	r.Header.Set("X-Tenant", "a")
	h.ServeHTTP(httptest.NewRecorder(), r)
	if n := used(t, e); n != 4 {
		t.Errorf("%d units", n)
	}
}

const leaky = "policies:\n  - {id: p, by: [tenant], limits: [1/s burst 10 leaky_bucket], on_failure: open}\n"

// moving lets the store follow the bubble's clock.
var moving = memstore.WithMaxKeys(1000)

func TestDelayIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := httplimit.New(decider(t, leaky, moving), tenant, httplimit.WithMaxDelay(time.Minute))(ok)
		began := time.Now()
		for i := range 4 { // the third was told to wait a second from its own beginning
			if w := get(h, "/", "X-Tenant", "a"); w.Code != 200 || time.Since(began).Round(time.Millisecond) != time.Duration(i)*time.Second {
				t.Errorf("request %d: %d after %v", i+1, w.Code, time.Since(began))
			}
		}
	})
}

func TestDelayTooLongIsDenied(t *testing.T) {
	e := decider(t, leaky)
	get(httplimit.New(e, tenant)(ok), "/", "X-Tenant", "a")
	for _, tc := range []struct {
		most time.Duration
		want int
	}{{0, 429}, {999 * time.Millisecond, 429}, {-1, 200}} {
		before := used(t, e)
		w := get(httplimit.New(e, tenant, httplimit.WithMaxDelay(tc.most))(ok), "/", "X-Tenant", "a")
		if w.Code != tc.want {
			t.Errorf("%v: %d", tc.most, w.Code)
		}
		if w.Code != 429 {
			continue
		}
		if n := used(t, e); n != before {
			t.Errorf("%v: denied, and %d units in use after %d", tc.most, n, before)
		}
		if w.Header().Get("Retry-After") == "" || w.Header().Get("X-RateLimit-Remaining") != "0" || !strings.Contains(w.Body.String(), `"violated-policies":["p"]`) {
			t.Errorf("%v: %v %s", tc.most, w.Header(), w.Body)
		}
	}
}

// TestWaitEndsWithTheClient: whoever leaves the queue gives its place back.
func TestWaitEndsWithTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := decider(t, leaky, moving)
		served := 0
		h := httplimit.New(e, tenant, httplimit.WithMaxDelay(time.Minute))(
			http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }))
		get(h, "/", "X-Tenant", "a")
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
		r.Header.Set("X-Tenant", "a")
		w := httptest.NewRecorder()
		began := time.Now()
		h.ServeHTTP(w, r)
		if w.Code != 503 || served != 1 || time.Since(began) != 100*time.Millisecond || used(t, e) != 1 {
			t.Errorf("%d after %v, served %d, %d units", w.Code, time.Since(began), served, used(t, e))
		}
	})
}

const places = "policies:\n  - {id: p, by: [tenant], concurrency: 1, on_failure: open}\n"

// counting counts releases that gave something back, and all of them.
type counting struct {
	*engine.Engine
	gave, calls atomic.Int64
}

func (c *counting) Release(ctx context.Context, r *weir.Request) (int64, string, error) {
	n, v, err := c.Engine.Release(ctx, r)
	c.gave.Add(n)
	c.calls.Add(1)
	return n, v, err
}

func TestConcurrencyIsHeldForTheRequestsLife(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options []httplimit.Option
		fields  []string
	}{
		{"by itself", nil, nil},
		{"asked for", []httplimit.Option{httplimit.WithConcurrency()}, nil},
		{"with the request's id", []httplimit.Option{httplimit.WithRequestID("X-Id")}, []string{"X-Id", "mine"}},
		{"with a cost after", []httplimit.Option{httplimit.WithCostAfter(httplimit.BytesCost(1))}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := &counting{Engine: decider(t, places)}
			var inner *httptest.ResponseRecorder
			var h http.Handler
			h = httplimit.New(c, append(tc.options, tenant, httplimit.WithErrorLog(func(err error) {
				if weir.CodeOf(err) != weir.CodeInvalid {
					t.Error(err)
				}
			}))...)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/outer":
					inner = get(h, "/inner", "X-Tenant", "a")
					if n := used(t, c.Engine); n != 1 {
						t.Errorf("%d in progress", n)
					}
				case "/panic":
					panic("broken")
				}
			}))
			fields := append([]string{"X-Tenant", "a"}, tc.fields...)
			if w := get(h, "/outer", fields...); w.Code != 200 || inner.Code != 429 {
				t.Errorf("outer %d, inner %d", w.Code, inner.Code)
			}
			if len(tc.fields) > 0 {
				fields[3] = "another"
			}
			func() {
				defer func() {
					if recover() != "broken" {
						t.Error("the panic was not passed on")
					}
				}()
				get(h, "/panic", fields...)
			}()
			if c.gave.Load() != 2 || c.calls.Load() != 2 || used(t, c.Engine) != 0 {
				t.Errorf("%d releases gave back %d; %d in progress", c.calls.Load(), c.gave.Load(), used(t, c.Engine))
			}
		})
	}
}

// TestNothingHeldNothingReleased: ids where no limit of concurrency applies cost
// no release.
func TestNothingHeldNothingReleased(t *testing.T) {
	c := &counting{Engine: decider(t, byTenant)}
	h := httplimit.New(c, tenant, httplimit.WithConcurrency())(ok)
	get(h, "/", "X-Tenant", "a")
	get(h, "/")
	if n := c.calls.Load(); n != 0 {
		t.Errorf("%d releases", n)
	}
}

// TestSameIDHoldsOnePlace: a request that is sent again while the first is under
// way shares its place, and does not give it back when it ends before.
func TestSameIDHoldsOnePlace(t *testing.T) {
	for _, text := range []string{places, "policies:\n  - {id: p, by: [tenant], limits: [9/h, 1 concurrency 60s], on_failure: open}\n"} {
		e := decider(t, text)
		var h http.Handler
		h = httplimit.New(e, tenant, httplimit.WithRequestID("X-Id"))(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/outer" {
				return
			}
			if w := get(h, "/again", "X-Tenant", "a", "X-Id", "same"); w.Code != 200 {
				t.Errorf("again: %d", w.Code)
			}
			if w := get(h, "/other", "X-Tenant", "a", "X-Id", "other"); w.Code != 429 {
				t.Errorf("another, while the first is under way: %d", w.Code)
			}
		}))
		get(h, "/outer", "X-Tenant", "a", "X-Id", "same")
		if w := get(h, "/other", "X-Tenant", "a", "X-Id", "third"); w.Code != 200 {
			t.Errorf("afterwards: %d", w.Code)
		}
	}
}

// TestDeniedDelayHoldsNothing: who would have to wait too long has no place.
func TestDeniedDelayHoldsNothing(t *testing.T) {
	c := &counting{Engine: decider(t, "policies:\n  - {id: p, by: [tenant], limits: [1/s burst 10 leaky_bucket, 5 concurrency 60s], on_failure: open}\n")}
	h := httplimit.New(c, tenant, httplimit.WithMaxDelay(0))(ok)
	for i, want := range []int{200, 429, 429} {
		if w := get(h, "/", "X-Tenant", "a"); w.Code != want {
			t.Errorf("request %d: %d", i+1, w.Code)
		}
	}
	if c.gave.Load() != 3 || c.calls.Load() != 3 {
		t.Errorf("%d releases gave back %d", c.calls.Load(), c.gave.Load())
	}
}

// TestUnlistedChargesAreReleased: a checker that lists no charges may hold a
// place; and one whose store was too late may, too.
func TestUnlistedChargesAreReleased(t *testing.T) {
	c := &quiet{counting{Engine: decider(t, places)}}
	h := httplimit.New(c, tenant, httplimit.WithConcurrency())(ok)
	for i := range 2 {
		if w := get(h, "/", "X-Tenant", "a"); w.Code != 200 {
			t.Errorf("request %d: %d", i+1, w.Code)
		}
	}
	if c.gave.Load() != 2 {
		t.Errorf("%d given back", c.gave.Load())
	}
}

type quiet struct{ counting }

func (q *quiet) Check(ctx context.Context, r *weir.Request, d *weir.Decision) error {
	err := q.counting.Check(ctx, r, d)
	d.Charges = d.Charges[:0]
	return err
}

// TestWriterKeepsItsPowers on a real connection: flush, hijack, copy, deadlines.
func TestWriterKeepsItsPowers(t *testing.T) {
	type result struct {
		status int
		bytes  int64
	}
	results := make(chan result, 1)
	e := decider(t, "policies:\n  - {id: p, by: [ip], limits: [100/h], on_failure: open}\n")
	mux := http.NewServeMux()
	mux.HandleFunc("/flush", func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Error(err)
		}
	})
	mux.HandleFunc("/early", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "1234")
	})
	mux.HandleFunc("/copy", func(w http.ResponseWriter, _ *http.Request) {
		if _, ok := w.(io.ReaderFrom); !ok {
			t.Error("no ReaderFrom")
		}
		_, _ = io.Copy(w, strings.NewReader("123456"))
	})
	mux.HandleFunc("/hijack", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
	})
	srv := httptest.NewServer(httplimit.New(e, httplimit.WithCostAfter(func(_ *http.Request, status int, n int64, _ http.Header) int64 {
		results <- result{status, n}
		return 0
	}))(mux))
	defer srv.Close()
	for path, want := range map[string]result{"/flush": {200, 0}, "/early": {202, 4}, "/copy": {200, 6}, "/hijack": {101, 0}} {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		line, err := bufio.NewReader(conn).ReadString('\n')
		if have := <-results; have != want || err != nil || line == "" {
			t.Errorf("%s: %+v, want %+v (%q, %v)", path, have, want, line, err)
		}
		_ = conn.Close()
	}
}

// TestWriterThatCannot says so, rather than nothing.
func TestWriterThatCannot(t *testing.T) {
	h := httplimit.New(decider(t, byIP), httplimit.WithRefund(httplimit.ServerErrors))(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if _, _, err := http.NewResponseController(w).Hijack(); !errors.Is(err, http.ErrNotSupported) {
				t.Errorf("hijack: %v", err)
			}
		}))
	get(h, "/")
}

// around is the writer of a router that writes past what middleware gives it.
type around struct {
	http.ResponseWriter
	status, size int
}

func (a around) Status() int { return a.status }
func (a around) Size() int   { return a.size }

func TestWriterOfARouter(t *testing.T) {
	e := decider(t, byTenant)
	h := httplimit.New(e, tenant, httplimit.WithCostAfter(func(_ *http.Request, status int, n int64, _ http.Header) int64 {
		if status != 418 {
			t.Errorf("status %d", status)
		}
		return n
	}))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("X-Tenant", "a")
	h.ServeHTTP(around{httptest.NewRecorder(), 418, 5}, r)
	if n := used(t, e); n != 6 {
		t.Errorf("%d units", n)
	}
}

// TestPlainRequestsKeepTheirWriter: no wrapper where none is needed.
func TestPlainRequestsKeepTheirWriter(t *testing.T) {
	w := httptest.NewRecorder()
	httplimit.New(decider(t, byIP))(http.HandlerFunc(func(have http.ResponseWriter, _ *http.Request) {
		if have != http.ResponseWriter(w) {
			t.Errorf("a %T", have)
		}
	})).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
}
