package policy

import (
	"testing"
)

const leaseText = `
policies:
  - {id: on, limits: 100/s, lease: auto}
  - {id: off, limits: 100/s, lease: off}
  - {id: unsaid, limits: [100/s, 100/h fixed_window, 100/m burst 30]}
  - {id: leaky, limits: [100/s, 100/m burst 30 leaky_bucket]}
  - {id: log, limits: 100/s sliding_log}
  - {id: held, limits: 100/s, concurrency: 5}
  - {id: in-plan, limits: 100/s, plans: {a: 100/s sliding_log}}
  - {id: split, limits: 100/s, counter_shards: 2}
`

const leaseEnvoy = `
domain: envoy
descriptors:
  - {key: plain, rate_limit: {unit: second, requests_per_unit: 100}}
  - {key: watched, shadow_mode: true, rate_limit: {unit: second, requests_per_unit: 100}}
  - {key: quota, quota_mode: true, rate_limit: {unit: second, requests_per_unit: 100}}
  - {key: free, rate_limit: {unlimited: true}}
  - {key: shut, rate_limit: {unit: second, requests_per_unit: 0}}
`

func TestLease(t *testing.T) {
	envoy, problems := ParseEnvoy("e", []byte(leaseEnvoy))
	if HasErrors(problems) {
		t.Fatal(problems)
	}
	for name, tc := range map[string]struct {
		options Options
		want    map[string]bool
	}{
		"off":    {Options{}, map[string]bool{"on": true}},
		"auto":   {Options{Lease: true}, map[string]bool{"on": true, "unsaid": true, "plain": true}},
		"compat": {Options{Lease: true, EnvoyCompat: true}, map[string]bool{"on": true, "unsaid": true}},
		"shadow": {Options{Lease: true, EnvoyShadow: true}, map[string]bool{"on": true, "unsaid": true}},
	} {
		set, problems := Compile([]*File{{Name: "e", Envoy: envoy}, {Name: "n", Native: parseNative(t, leaseText)}}, tc.options)
		if HasErrors(problems) {
			t.Fatal(problems)
		}
		for _, r := range set.Rules() {
			if r.Lease != tc.want[r.ID] {
				t.Errorf("%s: rule %s leases: %v", name, r.ID, r.Lease)
			}
		}
	}
	plain, _ := Compile([]*File{{Name: "e", Envoy: envoy}}, Options{})
	leased, _ := Compile([]*File{{Name: "e", Envoy: envoy}}, Options{Lease: true})
	if plain.Version() == leased.Version() {
		t.Error("the default is not part of the version")
	}
}
