package rls_test

import (
	"testing"

	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/rls"
)

// TestShadowIsNotTold: a descriptor of two policies is told of the one that holds,
// however much tighter the one that is watched.
func TestShadowIsNotTold(t *testing.T) {
	for _, by := range lanes {
		t.Run(string(by), func(t *testing.T) { testShadowIsNotTold(t, by) })
	}
}

func testShadowIsNotTold(t *testing.T, by lane) {
	e := enginetest.New(t, `
domain: test
policies:
  - {id: holds, limits: [3/m], on_failure: open}
  - {id: watched, mode: shadow, limits: [1/h], on_failure: open}
`, engine.Options{})
	s := connect(t, by, e, rls.Options{})
	for i, want := range []any{ok, ok, ok, over} {
		r := s.ask(1, d("method", "GET"))
		st := r.GetStatuses()[0]
		if r.GetOverallCode() != want || st.GetCode() != want || st.GetCurrentLimit().GetRequestsPerUnit() != 3 {
			t.Errorf("request %d: %v, its descriptor %v", i+1, r.GetOverallCode(), st)
		}
	}
}
