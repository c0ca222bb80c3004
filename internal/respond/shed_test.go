package respond_test

import (
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/respond"
)

// TestShedProblem: 503, and not a word of a quota that were the caller's.
func TestShedProblem(t *testing.T) {
	fleet := denied(t, "fleet", "500 concurrency 30s", weir.Second, charged(t, "fleet", "500 concurrency 30s", false))
	fleet.Reason = weir.ReasonShed
	worker := &weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonShed, RetryAfter: weir.Second}
	for name, d := range map[string]*weir.Decision{"policy": fleet, "worker": worker} {
		a := respond.To(d, now, most)
		b := problem(t, &a)
		if b.Status != 503 || b.Error.Code != "shed" || !strings.HasSuffix(b.Type, "#temporary-reduced-capacity") ||
			b.Detail != "the service has no room for this request now; retry after 2 s" || *b.Error.RetryAfter != 2 {
			t.Errorf("%s: %+v", name, b)
		}
		if got := strings.Join(b.Violated, " "); got != d.Rule {
			t.Errorf("%s: violated %q", name, got)
		}
	}
}
