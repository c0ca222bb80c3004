package httplimit_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/httplimit"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/memstore"
)

// decider is an engine on a memory whose clock stands, unless told otherwise.
func decider(t testing.TB, text string, opts ...memstore.Option) *engine.Engine {
	t.Helper()
	if len(opts) == 0 {
		opts = []memstore.Option{memstore.WithClock(func() weir.Micros { return 1_800_000_000 * weir.Second })}
	}
	return enginetest.New(t, text, engine.Options{Store: memstore.New(opts...)})
}

// byIP is a policy of two an hour for each address.
const byIP = "policies:\n  - {id: p, by: [ip], limits: [2/h], on_failure: open}\n"

// byTenant is one of ten an hour for each tenant.
const byTenant = "policies:\n  - {id: p, by: [tenant], limits: [10/h], on_failure: open}\n"

var tenant = httplimit.WithDimensions(httplimit.Header("tenant", "X-Tenant"))

// ok answers 200.
var ok = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) })

// get asks h for path; fields are name, value, name, value.
func get(h http.Handler, path string, fields ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Add(fields[i], fields[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// remote hides that a checker is asynchronous, or can release.
type remote struct{ weir.Checker }

// failing is a checker without an answer.
type failing struct{ err error }

func (f failing) Check(context.Context, *weir.Request, *weir.Decision) error { return f.err }

// used is what tenant a has in use.
func used(t testing.TB, e *engine.Engine, dimensions ...weir.Pair) int64 {
	t.Helper()
	if len(dimensions) == 0 {
		dimensions = []weir.Pair{{Name: "tenant", Value: "a"}}
	}
	all, _, err := e.Usage(context.Background(), &weir.Request{Domain: "default", Descriptors: []weir.Descriptor{{Pairs: dimensions}}})
	if err != nil || len(all) == 0 {
		t.Fatalf("usage: %v, %v", all, err)
	}
	return all[0].Outcome.Before.Used
}
