package native_test

import (
	"testing"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/native"
	"github.com/weirlimit/weir/internal/wire"
)

// TestShedReason: the reason goes over the wire, and comes back what it was.
func TestShedReason(t *testing.T) {
	l := native.NewLimiter(enginetest.New(t, "policies:\n  - {id: fleet, limits: 1/h, answer: unavailable, on_failure: open}\n", engine.Options{}))
	in := &weirv1.CheckRequest{Domain: "default"}
	var out *weirv1.CheckResponse
	for range 2 {
		var err error
		if out, err = l.Check(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if out.GetCode() != weirv1.Code_CODE_DENY || out.GetReason() != weirv1.Reason_REASON_SHED {
		t.Errorf("got %v", out)
	}
	var d weir.Decision
	if err := wire.Decision(out, 1, &d); err != nil || d.Reason != weir.ReasonShed || d.Allowed() {
		t.Errorf("read back: %v, %v", d.Reason, err)
	}
}
