package engine_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/policy"
)

// TestDeniedByZero has a limit of 0 among others: the answer is of that one.
func TestDeniedByZero(t *testing.T) {
	for _, c := range []struct {
		name, first string
		compat      bool // others are counted all the same
	}{
		{"beside one in shadow", "{key: a, shadow_mode: true, rate_limit: {unit: second, requests_per_unit: 0}}", false},
		{"beside a quota of 0", "{key: a, quota_mode: true, rate_limit: {unit: second, requests_per_unit: 0}}", false},
		{"beside one with room", "{key: a, rate_limit: {unit: hour, requests_per_unit: 100}}", false},
		{"beside one that counts", "{key: a, rate_limit: {unit: hour, requests_per_unit: 100}}", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := enginetest.NewEnvoy(t, "domain: d\ndescriptors:\n  - "+c.first+
				"\n  - {key: b, rate_limit: {unit: second, requests_per_unit: 0}}\n", policy.Options{EnvoyCompat: c.compat}, engine.Options{})
			r := weir.Request{Domain: "d", Descriptors: []weir.Descriptor{
				{Pairs: []weir.Pair{{Name: "a", Value: "1"}}}, {Pairs: []weir.Pair{{Name: "b", Value: "1"}}},
			}}
			var d weir.Decision
			if err := e.Check(t.Context(), &r, &d); err != nil {
				t.Fatal(err)
			}
			if d.Verdict != weir.Deny || d.Rule != "b" || d.Limit.Count != 0 || d.Remaining != 0 || d.ResetAfter != 0 || d.RetryAfter != weir.Never {
				t.Errorf("%v by %q, %d of %d left, reset after %v, retry after %v",
					d.Verdict, d.Rule, d.Remaining, d.Limit.Count, d.ResetAfter.Duration(), d.RetryAfter.Duration())
			}
		})
	}
}
