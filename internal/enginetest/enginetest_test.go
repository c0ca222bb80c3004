package enginetest_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
)

func TestNewDecides(t *testing.T) {
	e := enginetest.New(t, "policies:\n  - {id: p, limits: [1/h], on_failure: open}\n", engine.Options{})
	for i, want := range []weir.Verdict{weir.Allow, weir.Deny} {
		var d weir.Decision
		if err := e.Check(t.Context(), &weir.Request{Domain: "default", Descriptors: make([]weir.Descriptor, 1)}, &d); err != nil || d.Verdict != want {
			t.Errorf("request %d: %v, %v", i+1, d.Verdict, err)
		}
	}
}
