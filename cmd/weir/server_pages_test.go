package main

import (
	"strings"
	"testing"

	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/policyfile"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
)

// TestRulesPage: /rlconfig tells every limit in force, also those of plans and
// one of 0.
func TestRulesPage(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"plans", `
policies:
  - id: requests
    by: [tenant]
    limits: [5/s burst 10]
    plans: {pro: [100/s burst 200, 1000000/d], free: 1/s, enterprise: unlimited}
    on_failure: open
`, "default.requests: 5/s burst 10; enterprise: unlimited; free: 1/s; pro: 100/s burst 200 1000000/d\n"},
		{"a limit of 0", `
domain: default
descriptors:
  - {key: ip, value: banned, rate_limit: {unit: minute, requests_per_unit: 0}}
`, "default.ip_banned: denies all\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, problems := policyfile.Parse("p.yaml", []byte(tc.text), false)
			if policy.HasErrors(problems) {
				t.Fatal(problems)
			}
			set, problems := policy.Compile([]*policy.File{f}, policy.Options{})
			if set == nil {
				t.Fatal(problems)
			}
			store := memstore.New()
			defer func() { _ = store.Close() }()
			e, err := engine.New(engine.Options{Store: store})
			if err != nil {
				t.Fatal(err)
			}
			e.Swap(set)
			var page strings.Builder
			if err := (&server{engine: e}).writeRules(&page); err != nil || !strings.HasPrefix(page.String(), tc.want) {
				t.Errorf("%q, %v; want %q", page.String(), err, tc.want)
			}
		})
	}
}
