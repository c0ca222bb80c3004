package forwardauth_test

import (
	"testing"

	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/internal/enginetest"
)

// TestShed: a gateway learns that it is the service that is full, also one that
// is told so by 403.
func TestShed(t *testing.T) {
	e := enginetest.New(t, "policies:\n  - {id: fleet, match: {priority: read}, limits: 1/h, answer: unavailable, on_failure: open}\n", engine.Options{})
	h := handler(t, e, identity.Options{})
	from := []string{"X-Forwarded-For", "203.0.113.7", "X-Forwarded-Method", "GET", "X-Forwarded-Uri", "/x"}
	if w := ask(h, "", from...); w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for query, want := range map[string]int{"": 503, "?deny=403": 403} {
		w := ask(h, query, from...)
		if w.Code != want || w.Header().Get("X-Weir-Status") != "503" || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %v", query, w.Code, w.Header())
		}
	}
}
