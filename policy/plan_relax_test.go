package policy

import "testing"

// TestRelax: what a rule that is named can no longer deny, and that no other rule
// denies for it.
func TestRelax(t *testing.T) {
	const config = `
domain: d
descriptors:
  - key: a
    rate_limit: {unit: second, requests_per_unit: 1}
  - key: b
    rate_limit: {unit: second, requests_per_unit: 2}
  - key: zero
    rate_limit: {unit: second, requests_per_unit: 0}
  - key: q
    quota_mode: true
    rate_limit: {unit: second, requests_per_unit: 3}
  - key: r
    quota_mode: true
    rate_limit: {unit: second, requests_per_unit: 4}
  - key: qzero
    quota_mode: true
    rate_limit: {unit: second, requests_per_unit: 0}
`
	for _, tc := range []struct {
		name   string
		ask    []string
		forced string
		want   string
		denied bool
	}{
		{"one of two", []string{"a=1", "b=1"}, "a", "a shadow:1:1/s | b enforce:1:2/s", false},
		{"a limit of 0", []string{"zero=1", "b=1"}, "zero", "zero | b enforce:1:2/s", false},
		{"beside a limit of 0", []string{"zero=1", "b=1"}, "b", "zero denies | b shadow:1:2/s", true},
		{"a quota speaks for all quotas", []string{"q=1", "r=1", "a=1"}, "q", "q shadow:1:3/s | r shadow:1:4/s | a enforce:1:1/s", false},
		{"also for one of 0", []string{"q=1", "qzero=1"}, "q", "q shadow:1:3/s | qzero", false},
		{"one of 0 too", []string{"q=1", "qzero=1"}, "qzero", "q shadow:1:3/s | qzero", false},
		{"what is no quota does not", []string{"q=1", "r=1", "a=1"}, "a", "q enforce:1:3/s:group | r enforce:1:4/s:group | a shadow:1:1/s", false},
	} {
		p := resolved(t, envoySet(t, Options{}, config), envoyAsk(tc.ask...))
		p.Relax(func(r *Rule) bool { return r.ID == tc.forced })
		if got := tell(p); got != tc.want || p.Denied() != tc.denied {
			t.Errorf("%s: denied %v, %s\nwant %v, %s", tc.name, p.Denied(), got, tc.denied, tc.want)
		}
	}
}
