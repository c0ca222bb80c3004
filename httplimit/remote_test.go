package httplimit_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/client"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/httplimit"
	"github.com/weirlimit/weir/internal/native"
)

// elsewhere serves an engine over gRPC, and returns a client of it.
func elsewhere(t *testing.T, e *engine.Engine) *client.Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	weirv1.RegisterLimiterServer(g, native.NewLimiter(e))
	var serving sync.WaitGroup
	serving.Go(func() { _ = g.Serve(l) })
	c, err := client.New(l.Addr().String(), client.WithDeadline(20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(); g.Stop(); serving.Wait() })
	return c
}

// TestElsewhere: the same over a server: limits, fields, required dimensions,
// costs after the response, places that are held and released.
func TestElsewhere(t *testing.T) {
	e := decider(t, byTenant)
	h := httplimit.New(elsewhere(t, e), tenant, httplimit.WithCostAfter(httplimit.BytesCost(1)))(respond(200, "", "12345"))
	w := get(h, "/", "X-Tenant", "a")
	if w.Code != 200 || w.Header().Get("X-RateLimit-Remaining") != "9" || !strings.HasPrefix(w.Header().Get("RateLimit"), `"p";r=9;t=`) {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	for until := time.Now().Add(20 * time.Second); used(t, e) != 6; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d units were spent", used(t, e))
		}
	}
	if w := get(httplimit.New(elsewhere(t, decider(t, "policies:\n  - {id: p, by: [tenant], limits: [1/h], require: true, on_failure: open}\n")), tenant)(ok), "/"); w.Code != 400 {
		t.Errorf("a dimension that is required: %d %s", w.Code, w.Body)
	}
	for name, opts := range map[string][]httplimit.Option{"asked for": {tenant, httplimit.WithConcurrency()}, "found out": {tenant}} {
		jobs := decider(t, places)
		c := elsewhere(t, jobs)
		var inner *httptest.ResponseRecorder
		var h http.Handler
		h = httplimit.New(c, opts...)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/outer" {
				inner = get(h, "/inner", "X-Tenant", "a")
			}
		}))
		for range 2 {
			if w := get(h, "/outer", "X-Tenant", "a"); w.Code != 200 || inner.Code != 429 {
				t.Errorf("%s: outer %d, inner %d", name, w.Code, inner.Code)
			}
		}
		if n := used(t, jobs); n != 0 {
			t.Errorf("%s: %d places are held", name, n)
		}
	}
}

// TestLongPathsElsewhere: a server decides about paths of any length, each by
// itself.
func TestLongPathsElsewhere(t *testing.T) {
	h := httplimit.New(elsewhere(t, decider(t, "policies:\n  - {id: p, match: {path: /search/*}, by: [path], limits: [1/h], on_failure: open}\n")))(ok)
	for _, n := range []int{300, httplimit.MaxValueBytes/2 - 5, 3000, 100_000} {
		for _, middle := range []string{"a", "b"} {
			path := "/search/" + strings.Repeat("x", n) + middle + strings.Repeat("x", n)
			for _, want := range []int{200, 429} {
				if w := get(h, path); w.Code != want {
					t.Errorf("%d bytes: %d %s, want %d", len(path), w.Code, w.Body, want)
				}
			}
		}
	}
}

var _ weir.AsyncChecker = (*client.Client)(nil)
