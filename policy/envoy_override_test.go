package policy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirlimit/weir"
)

var (
	overrideWith = weir.MustMeter(weir.Limit{Algorithm: weir.FixedWindow, Count: 42, Window: weir.Hour})
	denyWith     = &weir.Meter{Limit: weir.Limit{Algorithm: weir.FixedWindow, Window: weir.Hour}}
)

const overridden = `
domain: d
descriptors:
  - key: tenant
    shadow_mode: true
    quota_mode: true
    rate_limit: {unit: second, requests_per_unit: 1, name: n}
    rate_limits: []
    descriptors:
      - key: path
        rate_limit: {unit: second, requests_per_unit: 1}
  - key: other
    rate_limit: {unit: second, requests_per_unit: 1, replaces: [{name: n}]}
  - key: free
    rate_limit: {unlimited: true}
  - key: white
    value: listed
`

// TestEnvoyOverride: a limit that the request brings along takes the place of
// whatever is configured, also of nothing.
func TestEnvoyOverride(t *testing.T) {
	for _, tc := range []struct{ name, ask, key string }{
		{"of a rule", "tenant=acme", "{acme}1:d9:%override6:tenant4:acmefh"},
		{"of a rule below", "tenant=acme,path=/", "{acme}1:d9:%override6:tenant4:acme4:path1:/fh"},
		{"of unlimited", "free=1", "{1}1:d9:%override4:free1:1fh"},
		{"of a whitelist", "white=listed", "{5:white6:listed}1:d9:%overridefh"},
		{"of a deeper request", "tenant=acme,nobody=1", "{acme}1:d9:%override6:tenant4:acme6:nobody1:1fh"},
		{"of nothing", "nobody=1", "{6:nobody1:1}1:d9:%overridefh"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := envoySet(t, Options{}, overridden)
			r := envoyAsk(tc.ask)
			r.Descriptors[0].Limit = overrideWith
			p := resolved(t, s, r)
			if got, want := tell(p), "%override enforce:1:42/h:fixed_window"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if got := keysOfPlan(p); len(got) != 1 || got[0] != tc.key {
				t.Errorf("key %q, want %q", got, tc.key)
			}
		})
	}
}

func TestEnvoyOverrideBesideOthers(t *testing.T) {
	r := envoyAsk("tenant=acme", "tenant=acme", "other=1")
	r.Descriptors[0].Limit = overrideWith
	p := resolved(t, envoySet(t, Options{EnvoyCompat: true}, overridden), r)
	want := "%override always:1:42/h:fixed_window | - replaced:tenant | other always:1:1/s:fixed_window"
	if got := tell(p); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestEnvoyOverrideOfZero: a meter of no count is a limit of 0.
func TestEnvoyOverrideOfZero(t *testing.T) {
	r := envoyAsk("tenant=acme")
	r.Descriptors[0].Limit = denyWith
	p := resolved(t, envoySet(t, Options{}, overridden), r)
	if !p.Denied() || p.Descriptors[0].Denies != &denyWith.Limit || len(p.Charges) != 0 {
		t.Errorf("%s, denied %v; want a denial without charges", tell(p), p.Denied())
	}
}

// TestEnvoyOverrideKeys: two descriptors share an override's counter only when
// they are the same.
func TestEnvoyOverrideKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &EnvoyFile{Domain: "d", Descriptors: genEnvoyDescriptors(t, 2)}
		s, _ := Compile([]*File{{Envoy: f}}, Options{})
		had := map[string][]weir.Pair{}
		for range 20 {
			of := genEnvoyPairs(t, f.Descriptors)
			r := &weir.Request{Domain: "d", Descriptors: []weir.Descriptor{{Pairs: of, Limit: overrideWith}}}
			var p Plan
			if err := s.Resolve(r, &p); err != nil || len(p.Charges) != 1 {
				t.Fatalf("%v: %v, %d charges", of, err, len(p.Charges))
			}
			k := strings.Clone(p.Charges[0].Key)
			if other, ok := had[k]; ok && !samePairs(other, of) {
				t.Fatalf("%v and %v share %q", other, of, k)
			}
			had[k] = of
		}
	})
}

func samePairs(a, b []weir.Pair) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
