package engine_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/httplimit"
	"github.com/weirlimit/weir/internal/degrade"
	"github.com/weirlimit/weir/internal/enginetest"
)

const watched = "policies:\n  - {id: watched, mode: shadow, limits: [1/m burst 10 leaky_bucket], on_failure: open}\n"

// delays asks three times, and wants no wait.
func delays(t *testing.T, e *engine.Engine) {
	t.Helper()
	for i := range 3 {
		var d weir.Decision
		if err := e.Check(t.Context(), &weir.Request{Domain: "default", Descriptors: make([]weir.Descriptor, 1)}, &d); err != nil {
			t.Fatal(err)
		}
		if !d.Allowed() || d.Delay != 0 {
			t.Errorf("request %d: %v, to wait for %v", i+1, d.Verdict, d.Delay.Duration())
		}
	}
}

// TestShadowDelaysNobody: a leaky bucket that is watched, alone and beside another.
func TestShadowDelaysNobody(t *testing.T) {
	delays(t, enginetest.New(t, watched, engine.Options{}))
	delays(t, enginetest.New(t, watched+"  - {id: other, limits: [1000/m], on_failure: open}\n", engine.Options{}))
}

// TestForcedDelaysNobody: what an operator forces open is watched.
func TestForcedDelaysNobody(t *testing.T) {
	sw := degrade.NewSwitch(time.Now)
	e := enginetest.New(t, `
policies:
  - {id: slow, limits: [1/m burst 10 leaky_bucket], on_failure: open}
  - {id: other, limits: [1000/m], on_failure: open}
`, engine.Options{Switch: sw})
	if _, err := sw.Force(degrade.Scope{Domain: "default", Policy: "slow"}, "ann", "incident", 0); err != nil {
		t.Fatal(err)
	}
	delays(t, e)
}

// TestShadowDeniesNobody: middleware denies what would have to wait for too long.
func TestShadowDeniesNobody(t *testing.T) {
	h := httplimit.New(enginetest.New(t, watched, engine.Options{}))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for i := range 3 {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		if w.Code != http.StatusOK {
			t.Errorf("request %d: %d: %s", i+1, w.Code, w.Body)
		}
	}
}
