package policy

import (
	"fmt"
	"testing"

	"github.com/weirlimit/weir"
)

// TestLasting: a plan that lasts is the same request's at any time, and those that
// depend on more than the set and the request do not say so.
func TestLasting(t *testing.T) {
	const config = `
domain: d
descriptors:
  - key: tenant
    rate_limit: {unit: second, requests_per_unit: 1}
    descriptors:
      - {key: user, rate_limit: {unit: minute, requests_per_unit: 2}}
  - {key: tenant, value: vip, rate_limit: {unlimited: true}}
  - {key: path, value: /api/*, rate_limit: {unit: hour, requests_per_unit: 3}}
  - {key: shut, rate_limit: {unit: hour, requests_per_unit: 0}}
  - {key: shadow, shadow_mode: true, rate_limit: {unit: hour, requests_per_unit: 4}}
  - {key: remote_address, rate_limit: {unit: hour, requests_per_unit: 5}}
`
	usual := envoySet(t, Options{}, config)
	for _, tc := range []struct {
		name string
		set  *Set
		ask  *weir.Request
		want bool
	}{
		{"one", usual, envoyAsk("tenant=a"), true},
		{"several", usual, envoyAsk("tenant=a", "path=/api/x", "shadow=x"), true},
		{"unlimited", usual, envoyAsk("tenant=vip"), true},
		{"a limit of 0", usual, envoyAsk("shut=x"), true},
		{"none", usual, envoyAsk("nosuch=x"), true},
		{"by two values", usual, envoyAsk("tenant=a,user=b"), false},
		{"by a pseudonym", usual, envoyAsk("remote_address=10.0.0.1"), false},
		{"one of two by a pseudonym", usual, envoyAsk("tenant=a", "remote_address=10.0.0.1"), false},
		{"told apart afterwards", envoySet(t, Options{EnvoyCompat: true}, config), envoyAsk("shadow=x"), false},
		{"counted by compat", envoySet(t, Options{EnvoyCompat: true}, config), envoyAsk("tenant=a"), true},
		{"another domain", usual, &weir.Request{Domain: "nosuch", Descriptors: envoyAsk("tenant=a").Descriptors}, false},
	} {
		p := resolved(t, tc.set, tc.ask)
		if p.Lasting != tc.want {
			t.Errorf("%s: lasting %v, want %v", tc.name, p.Lasting, tc.want)
		}
		if !p.Lasting {
			continue
		}
		later := &Plan{Now: 1 << 50, Turn: 12345, Ring: testRing(t)}
		if err := tc.set.Resolve(tc.ask, later); err != nil {
			t.Fatal(err)
		}
		if a, b := fmt.Sprint(tell(p), p.Charges, p.Uses), fmt.Sprint(tell(later), later.Charges, later.Uses); a != b {
			t.Errorf("%s: %s, and at another time %s", tc.name, a, b)
		}
		p.Relax(func(*Rule) bool { return false })
		if p.Lasting {
			t.Errorf("%s: lasting, though it was relaxed", tc.name)
		}
	}
	brings := envoyAsk("tenant=a")
	brings.Descriptors[0].Limit = overrideWith
	if resolved(t, usual, brings).Lasting {
		t.Error("lasting, with a limit that came with the request")
	}
	p := resolved(t, usual, envoyAsk("tenant=a"))
	wrong := envoyAsk("tenant=a")
	wrong.Cost = -1
	if err := usual.Resolve(wrong, p); err == nil || p.Lasting {
		t.Errorf("lasting %v of a request that is refused: %v", p.Lasting, err)
	}
}
