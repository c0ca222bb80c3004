package httplimit_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/httplimit"
)

// slow is a checker that denies, given time: with less it gives up and lets
// pass, as a client of a server does whose policy fails open.
func slow(ctx context.Context, _ *weir.Request, d *weir.Decision) error {
	const takes = 2 * time.Millisecond
	*d = weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonExhausted}
	wait := takes
	if at, ok := ctx.Deadline(); ok && time.Until(at) < takes {
		wait = time.Until(at) / 2
		*d = weir.Decision{Verdict: weir.Allow, Reason: weir.ReasonDegraded}
	}
	time.Sleep(wait)
	return nil
}

// TestDeadlineIsNoWayAround: a request that has little time, as under an
// http.TimeoutHandler, is not let pass for it.
func TestDeadlineIsNoWayAround(t *testing.T) {
	one := "policies:\n  - {id: p, by: [tenant], limits: [1/h], on_failure: open}\n"
	for name, c := range map[string]weir.Checker{"slow": checkFunc(slow), "elsewhere": elsewhere(t, decider(t, one)), "here": decider(t, one)} {
		ran := 0
		h := httplimit.New(c, tenant)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { ran++ }))
		get(h, "/", "X-Tenant", "a")
		ran = 0
		for i := range 100 {
			span := []time.Duration{200, 500, 1000, 2000, 5000}[i%5] * time.Microsecond
			ctx, cancel := context.WithTimeout(t.Context(), span)
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
			r.Header.Set("X-Tenant", "a")
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != 429 && w.Code != 503 {
				t.Errorf("%s: a request of %v: %d", name, span, w.Code)
			}
			cancel()
		}
		if ran != 0 {
			t.Errorf("%s: %d requests were served", name, ran)
		}
	}
}

// TestWhoHangsUpIsNotServed, though the checker made up its mind before it saw
// that: what was charged is given back, and the place is free.
func TestWhoHangsUpIsNotServed(t *testing.T) {
	for _, text := range []string{byTenant, places} {
		e := decider(t, text)
		ctx, cancel := context.WithCancel(t.Context())
		h := httplimit.New(&hangsUp{counting{Engine: e}, cancel}, tenant)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			t.Error("served")
		}))
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
		r.Header.Set("X-Tenant", "a")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != 503 || used(t, e) != 0 {
			t.Errorf("%d, %d units in use", w.Code, used(t, e))
		}
	}
}

// hangsUp is an engine whose caller leaves while it decides.
type hangsUp struct {
	counting
	leave func()
}

func (h *hangsUp) Check(ctx context.Context, r *weir.Request, d *weir.Decision) error {
	err := h.counting.Check(ctx, r, d)
	if err == nil {
		h.leave()
	}
	return err
}
