package httplimit_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/httplimit"
)

func abort() { panic(http.ErrAbortHandler) } // how net/http is told to hang up

func aborted(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("the answer was not aborted")
		}
	}()
	f()
}

// TestAbortedDenial: a request that would wait too long is charged nothing, and
// holds nothing, also when WithDenial hangs up on it.
func TestAbortedDenial(t *testing.T) {
	e := decider(t, "policies:\n  - {id: p, by: [tenant], limits: [1/h burst 10 leaky_bucket, 5 concurrency 60s], on_failure: open}\n")
	h := httplimit.New(e, tenant, httplimit.WithMaxDelay(0), httplimit.WithConcurrency(),
		httplimit.WithDenial(func(http.ResponseWriter, *http.Request, *weir.Decision) { abort() }))(ok)
	get(h, "/", "X-Tenant", "a")
	before := all(t, e)
	aborted(t, func() { get(h, "/", "X-Tenant", "a") })
	if after := all(t, e); after != before {
		t.Errorf("in use %v before the denial, %v after it", before, after)
	}
}

// leaver is a checker whose caller leaves while it decides.
type leaver struct {
	*engine.Engine
	leave context.CancelFunc
}

func (l *leaver) Check(ctx context.Context, r *weir.Request, d *weir.Decision) error {
	err := l.Engine.Check(ctx, r, d)
	if l.leave != nil {
		l.leave()
	}
	return err
}

// TestAbortedError: the place of a client that left is given back, also when
// WithErrorResponse hangs up.
func TestAbortedError(t *testing.T) {
	e := decider(t, places)
	l := &leaver{Engine: e}
	h := httplimit.New(l, tenant, httplimit.WithConcurrency(),
		httplimit.WithErrorResponse(func(http.ResponseWriter, *http.Request, error) { abort() }))(ok)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	l.leave = cancel
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	r.Header.Set("X-Tenant", "a")
	aborted(t, func() { h.ServeHTTP(httptest.NewRecorder(), r) })
	if n := used(t, e); n != 0 {
		t.Errorf("%d places are held by nobody", n)
	}
}

// all is what tenant a has in use of two limits.
func all(t *testing.T, e *engine.Engine) (n [2]int64) {
	t.Helper()
	u, _, err := e.Usage(context.Background(), &weir.Request{Domain: "default", Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "a"}}}}})
	if err != nil || len(u) != 2 {
		t.Fatalf("usage: %v, %v", u, err)
	}
	return [2]int64{u[0].Outcome.Before.Used, u[1].Outcome.Before.Used}
}
