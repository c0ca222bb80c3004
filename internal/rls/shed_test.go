package rls_test

import (
	"testing"

	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/rls"
)

// TestShedIsOverLimit: Envoy's protocol has one word for a denial, and which
// status it becomes is Envoy's rate_limited_status.
func TestShedIsOverLimit(t *testing.T) {
	for _, by := range lanes {
		t.Run(string(by), func(t *testing.T) { testShed(t, by) })
	}
}

func testShed(t *testing.T, by lane) {
	e := enginetest.New(t, "domain: test\npolicies:\n  - {id: fleet, match: {priority: [test, read, write]}, limits: 1/h, answer: unavailable, on_failure: open}\n", engine.Options{})
	s := connect(t, by, e, rls.Options{})
	for i, want := range []any{ok, over} {
		if got := s.ask(1, d("method", "GET")).GetOverallCode(); got != want {
			t.Errorf("request %d: %v", i+1, got)
		}
	}
	if got := s.ask(1, d("priority", "critical")).GetOverallCode(); got != ok {
		t.Errorf("critical: %v", got)
	}
}
