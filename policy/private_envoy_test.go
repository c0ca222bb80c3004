package policy

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
)

const privateEnvoy = `
domain: d
descriptors:
  - key: remote_address
    detailed_metric: true
    rate_limit: &l {unit: second, requests_per_unit: 1}
  - key: remote_address
    value: 10.0.0.1
    detailed_metric: true
    rate_limit: *l
  - key: masked_remote_address
    value: 10.*
    value_to_metric: true
    rate_limit: *l
  - key: tenant
    rate_limit: *l
    descriptors:
      - key: user
        value_to_metric: true
        rate_limit: *l
`

func TestPrivateEnvoyKeys(t *testing.T) {
	s := envoySet(t, Options{}, privateEnvoy)
	metrics := NewMetricKeys(100)
	for _, tc := range []struct {
		ask, secret  string
		with         *weir.Meter
		key, metric  string // what they begin with
		values       int
		hasMetricKey bool
	}{
		{"remote_address=203.0.113.7", "203.0.113.7", nil, "{%~", "d.remote_address_", 1, true},
		{"masked_remote_address=10.1.0.0/16", "10.1.0.0/16", nil, "{%~", "d.masked_remote_address_", 1, true},
		{"tenant=acme,user=ann", "ann", nil, "{acme}", "d.tenant.user_", 1, true},
		{"tenant=acme", "-", nil, "{acme}", "d.tenant", 0, true},
		// An address that the configuration names is no secret of the caller's.
		{"remote_address=10.0.0.1", "-", nil, "{remote_address_10.0.0.1}", "d.remote_address_10.0.0.1", 0, true},
		// Limits that requests bring along, with a partition and without.
		{"remote_address=203.0.113.7", "203.0.113.7", overrideWith, "{%~", "", 3, false},
		{"tenant=acme,user=ann", "ann", overrideWith, "{acme}", "", 4, false},
		{"nobody=1,user=ann", "ann", overrideWith, "{%~", "", 4, false},
		{"nobody=1", "-", overrideWith, "{6:nobody1:1}", "", 0, false},
	} {
		r := envoyAsk(tc.ask)
		r.Descriptors[0].Limit = tc.with
		old, twins := resolveAt(t, s, r, -weir.Hour), resolveAt(t, s, r, 0)
		c := twins.Charges[0]
		parsed, err := key.Parse(c.Key)
		if err != nil || !strings.HasPrefix(c.Key, tc.key) || len(parsed.Values) != tc.values || strings.Contains(c.Key+c.Twin, tc.secret) {
			t.Errorf("%s: key %q, %v", tc.ask, c.Key, err)
		}
		if private := tc.secret != "-"; private != (c.Twin != "") || private && (c.Twin != old.Charges[0].Key || key.Tag(c.Twin) != key.Tag(c.Key)) {
			t.Errorf("%s: twin %q, once %q", tc.ask, c.Twin, old.Charges[0].Key)
		}
		if got := metrics.Of(twins, r, 0); tc.hasMetricKey && (!strings.HasPrefix(got, tc.metric) || strings.Contains(got, tc.secret)) {
			t.Errorf("%s: metric %q", tc.ask, got)
		}
	}
}

// TestPrivateEnvoyKeysAreApart: pseudonyms change what counters are called, and
// not which requests share one.
func TestPrivateEnvoyKeysAreApart(t *testing.T) {
	names := []string{"remote_address", "user", "tenant", "x"}
	text := rapid.SampledFrom([]string{"", "a", "b", "1:a", "}", "%~3fa", strings.Repeat("v", 300)})
	plainSet, hidingSet := envoySet(t, Options{Private: []string{}}, privateEnvoy), envoySet(t, Options{}, privateEnvoy)
	rapid.Check(t, func(t *rapid.T) {
		ask := func() *weir.Request {
			r := &weir.Request{Domain: "d", Descriptors: make([]weir.Descriptor, 1)}
			for range rapid.IntRange(1, 3).Draw(t, "pairs") {
				pair := weir.Pair{Name: rapid.SampledFrom(names).Draw(t, "name"), Value: text.Draw(t, "value")}
				r.Descriptors[0].Pairs = append(r.Descriptors[0].Pairs, pair)
			}
			if rapid.Bool().Draw(t, "override") {
				r.Descriptors[0].Limit = overrideWith
			}
			return r
		}
		keys := func(s *Set, r *weir.Request) []string {
			var p Plan
			if err := s.Resolve(r, &p); err != nil {
				t.Fatal(err)
			}
			return keysOfPlan(&p)
		}
		a, b := ask(), ask()
		plain, hidden := slices.Equal(keys(plainSet, a), keys(plainSet, b)), slices.Equal(keys(hidingSet, a), keys(hidingSet, b))
		if plain != hidden {
			t.Errorf("%+v and %+v: one counter %v, with pseudonyms %v", a, b, plain, hidden)
		}
	})
}
