package policy

import (
	"testing"

	"github.com/weirlimit/weir"
)

// TestSpentMode: what a rule charges for units that are spent already.
func TestSpentMode(t *testing.T) {
	envoy := `
domain: d
descriptors:
  - {key: plain, rate_limit: {unit: second, requests_per_unit: 5}}
  - {key: quota, quota_mode: true, rate_limit: {unit: second, requests_per_unit: 5}}
  - {key: shadow, shadow_mode: true, rate_limit: {unit: second, requests_per_unit: 5}}
  - {key: none, rate_limit: {unit: second, requests_per_unit: 0}}
`
	for _, tc := range []struct {
		compat   bool
		ask, got string
	}{
		{false, "plain=a", "plain always:3:5/s"},
		{false, "quota=a", "quota always:3:5/s:group"},
		{false, "shadow=a", "shadow shadow:3:5/s"},
		{false, "none=a", "none denies"},
		{true, "plain=a", "plain always:3:5/s:fixed_window"},
		{true, "shadow=a", "shadow always:3:5/s:fixed_window"},
	} {
		r := envoyAsk(tc.ask)
		r.Cost, r.Descriptors[0].Spent = 3, true
		p := resolved(t, envoySet(t, Options{EnvoyCompat: tc.compat}, envoy), r)
		if got := tell(p); got != tc.got {
			t.Errorf("%s: %s, want %s", tc.ask, got, tc.got)
		}
	}
}

// TestSpentLeavesConcurrencyAlone: no place is taken, and so no id is needed;
// a release gives back what it would without the mark.
func TestSpentLeavesConcurrencyAlone(t *testing.T) {
	set := compileTexts(t, Options{}, "policies:\n  - {id: p, by: [tenant], limits: [8/s, 5 concurrency 30s], cost: 4}\n")
	r := request("tenant=a cost=2")
	r.Descriptors[0].Spent = true
	if got := charges(resolved(t, set, r)); len(got) != 1 || got[0] != "p 8/s x8 always" {
		t.Errorf("charges %q", got)
	}
	r.ID = "x"
	p := &Plan{}
	if err := set.ResolveRelease(r, p); err != nil || len(p.Charges) != 1 || p.Charges[0].Mode != weir.Refund || p.Charges[0].Cost != 1 {
		t.Errorf("release: %+v, %v", p.Charges, err)
	}
}

func TestSpentAndRefundExclude(t *testing.T) {
	r := envoyAsk("plain=a")
	r.Descriptors[0].Spent, r.Descriptors[0].Refund = true, true
	set := envoySet(t, Options{}, "domain: d\ndescriptors:\n  - {key: plain, rate_limit: {unit: second, requests_per_unit: 5}}\n")
	if err := set.Resolve(r, &Plan{}); weir.CodeOf(err) != weir.CodeInvalid {
		t.Errorf("got %v", err)
	}
}
