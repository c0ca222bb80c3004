package policy

import (
	"testing"

	"github.com/weirlimit/weir"
)

// tree is the configuration that most rules are tried on.
const tree = `
domain: d
descriptors:
  - key: exact
    value: a
    rate_limit: {unit: second, requests_per_unit: 1}
  - key: exact
    rate_limit: {unit: second, requests_per_unit: 2}
  - key: exact
    value: allowed
  - key: wild
    value: ab*
    rate_limit: {unit: minute, requests_per_unit: 1}
  - key: wild
    value: a*
    rate_limit: {unit: minute, requests_per_unit: 2}
  - key: wild
    value: "*z"
    rate_limit: {unit: minute, requests_per_unit: 3}
  - key: wild
    value: p*q*r
    rate_limit: {unit: minute, requests_per_unit: 4}
  - key: wild
    value: abc
    rate_limit: {unit: minute, requests_per_unit: 5}
  - key: wild
    rate_limit: {unit: minute, requests_per_unit: 6}
  - key: outer
    value: x
    rate_limit: {unit: hour, requests_per_unit: 1}
    descriptors:
      - key: inner
        rate_limit: {unit: hour, requests_per_unit: 2}
      - key: inner
        value: y*
        rate_limit: {unit: hour, requests_per_unit: 3}
  - key: outer
    descriptors:
      - key: inner
        value: only
        rate_limit: {unit: hour, requests_per_unit: 4}
  - key: passage
    value: p
    descriptors:
      - key: leaf
        rate_limit: {unit: day, requests_per_unit: 1}
`

// TestEnvoyMatching has a case for each sentence of the format's matching rules.
func TestEnvoyMatching(t *testing.T) {
	s := envoySet(t, Options{}, tree)
	for _, tc := range []struct{ name, ask, want string }{
		{"exact key and value first", "exact=a", "exact_a enforce:1:1/s"},
		{"then the bare key", "exact=b", "exact enforce:1:2/s"},
		{"bare key takes an empty value", "exact=", "exact enforce:1:2/s"},
		{"neither limit nor children is a whitelist", "exact=allowed", "-"},
		{"a whitelist has no depth either", "exact=allowed,inner=1", "-"},
		{"exact before wildcards", "wild=abc", "wild_abc enforce:1:5/m"},
		{"wildcards in the order written", "wild=abd", "wild_ab* enforce:1:1/m"},
		{"a later wildcard gets the rest", "wild=acd", "wild_a* enforce:1:2/m"},
		{"a star is zero characters too", "wild=ab", "wild_ab* enforce:1:1/m"},
		{"a star in front", "wild=xyz", "wild_*z enforce:1:3/m"},
		{"stars in the middle", "wild=p1q2r", "wild_p*q*r enforce:1:4/m"},
		{"stars in the middle, empty", "wild=pqr", "wild_p*q*r enforce:1:4/m"},
		{"the parts of a wildcard do not overlap", "wild=pq", "wild enforce:1:6/m"},
		{"wildcards before the bare key", "wild=a", "wild_a* enforce:1:2/m"},
		{"bare key after wildcards", "wild=other", "wild enforce:1:6/m"},
		{"a value that is written like a wildcard", "wild=a*", "wild_a* enforce:1:2/m"},
		{"an inner limit for its own depth", "outer=x", "outer_x enforce:1:1/h"},
		{"nested, bare", "outer=x,inner=1", "outer_x.inner enforce:1:2/h"},
		{"wildcards are those of the level", "outer=x,inner=y1", "outer_x.inner_y* enforce:1:3/h"},
		{"a wildcard of another level does not count", "outer=x,inner=ab", "outer_x.inner enforce:1:2/h"},
		{"no way back from an exact match", "outer=x,inner=only", "outer_x.inner enforce:1:2/h"},
		{"nested, below a bare key", "outer=z,inner=only", "outer.inner_only enforce:1:4/h"},
		{"nested, no match", "outer=z,inner=other", "-"},
		{"a request that is deeper", "outer=x,inner=1,more=2", "-"},
		{"a request that is deeper than a leaf", "exact=a,more=1", "-"},
		{"a request that is less deep", "passage=p", "-"},
		{"a passage of no limit", "passage=p,leaf=1", "passage_p.leaf enforce:1:1/d"},
		{"the order of entries counts", "leaf=1,passage=p", "-"},
		{"unknown key", "nobody=1", "-"},
		{"keys are not joined with values", "exact_a=", "-"},
		{"keys are compared whole", "exac=t_a", "-"},
		{"case counts", "Exact=a", "-"},
		{"no entries", "", "-"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tell(resolved(t, s, envoyAsk(tc.ask))); got != tc.want {
				t.Errorf("%s gives %s, want %s", tc.ask, got, tc.want)
			}
		})
	}
}

func TestEnvoyUnknownDomain(t *testing.T) {
	s := envoySet(t, Options{}, tree)
	r := envoyAsk("exact=a", "exact=b")
	r.Domain = "other"
	r.Descriptors[1].Limit = weir.MustMeter(weir.Limit{Algorithm: weir.FixedWindow, Count: 1, Window: weir.Second})
	if got := tell(resolved(t, s, r)); got != "- | -" {
		t.Errorf("an unknown domain gives %s, want nothing", got)
	}
}

// TestEnvoyLimits has a case for each word of rate_limit.
func TestEnvoyLimits(t *testing.T) {
	for _, tc := range []struct{ name, limit, want, compat string }{
		{"second", "{unit: second, requests_per_unit: 5}", "enforce:1:5/s", "always:1:5/s:fixed_window"},
		{"minute", "{unit: minute, requests_per_unit: 5}", "enforce:1:5/m", "always:1:5/m:fixed_window"},
		{"hour", "{unit: hour, requests_per_unit: 5}", "enforce:1:5/h", "always:1:5/h:fixed_window"},
		{"day", "{unit: day, requests_per_unit: 5}", "enforce:1:5/d", "always:1:5/d:fixed_window"},
		{"week", "{unit: week, requests_per_unit: 5}", "enforce:1:5/7d", "always:1:5/7d:fixed_window"},
		{"month", "{unit: month, requests_per_unit: 5}", "enforce:1:5/30d", "always:1:5/30d:fixed_window"},
		{"year", "{unit: year, requests_per_unit: 5}", "enforce:1:5/365d", "always:1:5/365d:fixed_window"},
		{"case of units", "{unit: SeCoNd, requests_per_unit: 5}", "enforce:1:5/s", "always:1:5/s:fixed_window"},
		{"hexadecimal", "{unit: second, requests_per_unit: 0x10}", "enforce:1:16/s", "always:1:16/s:fixed_window"},
		{"underscores", "{unit: second, requests_per_unit: 1_000}", "enforce:1:1000/s", "always:1:1000/s:fixed_window"},
		{"most", "{unit: second, requests_per_unit: 10000000}", "enforce:1:10000000/s", "always:1:10000000/s:fixed_window"},
		{"unlimited", "{unlimited: true}", "unlimited", "unlimited"},
		{"unlimited no", "{unlimited: no, unit: second, requests_per_unit: 5}", "enforce:1:5/s", "always:1:5/s:fixed_window"},
		{"zero", "{unit: second, requests_per_unit: 0}", "denies", "denies"},
		{"nothing said is zero", "{unit: second}", "denies", "denies"},
		{"unit_multiplier seconds", "{unit: second, unit_multiplier: 30, requests_per_unit: 5}", "enforce:1:5/30s", "always:1:5/30s:fixed_window"},
		{"unit_multiplier minutes", "{unit: minute, unit_multiplier: 5, requests_per_unit: 5}", "enforce:1:5/5m", "always:1:5/5m:fixed_window"},
		{"algorithm", "{unit: minute, requests_per_unit: 5, algorithm: fixed_window}", "enforce:1:5/m:fixed_window", "always:1:5/m:fixed_window"},
		{"algorithm kept in compat", "{unit: minute, requests_per_unit: 5, algorithm: sliding_log}", "enforce:1:5/m:sliding_log", "always:1:5/m:sliding_log"},
		{"burst is gcra", "{unit: second, requests_per_unit: 5, burst: 9}", "enforce:1:5/s:burst:9", "always:1:5/s:burst:9"},
		{"burst of a leaky bucket", "{unit: second, requests_per_unit: 5, burst: 9, algorithm: leaky_bucket}", "enforce:1:5/s:burst:9:leaky_bucket", "always:1:5/s:burst:9:leaky_bucket"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := "domain: d\ndescriptors: [{key: k, rate_limit: " + tc.limit + "}]"
			for compat, want := range map[bool]string{false: tc.want, true: tc.compat} {
				if got := tell(resolved(t, envoySet(t, Options{EnvoyCompat: compat}, text), envoyAsk("k=v"))); got != "k "+want {
					t.Errorf("compat %v: %s, want k %s", compat, got, want)
				}
			}
		})
	}
}

func TestEnvoySeveralLimits(t *testing.T) {
	s := envoySet(t, Options{}, `
domain: d
descriptors:
  - key: k
    rate_limit: {unit: second, requests_per_unit: 10, name: both}
    rate_limits:
      - {unit: day, requests_per_unit: 1000}
      - {unit: second, requests_per_unit: 5, burst: 20}
  - key: only
    rate_limits:
      - {unit: day, requests_per_unit: 7}
  - key: zero
    rate_limit: {unit: second, requests_per_unit: 10}
    rate_limits:
      - {unit: day, requests_per_unit: 0}
`)
	p := resolved(t, s, envoyAsk("k=v", "only=v", "zero=v"))
	want := "k enforce:1:10/s enforce:1:1000/d enforce:1:5/s:burst:20 | only enforce:1:7/d | zero denies"
	if got := tell(p); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if name := p.Descriptors[0].Rule.Name; name != "both" {
		t.Errorf("the rule's name is %q, want both", name)
	}
	if l := p.Descriptors[2].Denies; l == nil || l.Count != 0 || l.Window != weir.Day {
		t.Errorf("denied by %v, want 0 per day", l)
	}
}

// TestEnvoyFlags has a case for each flag, in both ways of counting.
func TestEnvoyFlags(t *testing.T) {
	const config = `
domain: d
descriptors:
  - key: shadow
    shadow_mode: true
    rate_limit: {unit: second, requests_per_unit: 1}
  - key: quota
    quota_mode: true
    rate_limit: {unit: second, requests_per_unit: 1}
  - key: quotashadow
    quota_mode: true
    shadow_mode: true
    rate_limit: {unit: second, requests_per_unit: 1}
  - key: old
    rate_limit: {unit: second, requests_per_unit: 1, name: old}
  - key: older
    rate_limit: {unit: second, requests_per_unit: 2, name: older, replaces: [{name: old}]}
  - key: new
    rate_limit: {unit: second, requests_per_unit: 3, name: new, replaces: [{name: old}, {name: older}]}
  - key: free
    rate_limit: {unlimited: true, name: free, replaces: [{name: old}]}
  - key: tofree
    rate_limit: {unit: second, requests_per_unit: 4, replaces: [{name: free}]}
  - key: unnamed
    rate_limit: {unit: second, requests_per_unit: 5}
  - key: byid
    rate_limit: {unit: second, requests_per_unit: 6, replaces: [{name: unnamed}]}
`
	for _, tc := range []struct {
		name string
		ask  []string
		want string
	}{
		{"shadow_mode", []string{"shadow=1"}, "shadow shadow:1:1/s"},
		{"quota_mode", []string{"quota=1", "old=1"}, "quota enforce:1:1/s:group | old enforce:1:1/s"},
		{"shadow in quota_mode", []string{"quotashadow=1"}, "quotashadow shadow:1:1/s"},
		{"replaces drops a match", []string{"old=1", "older=1"}, "- replaced:old | older enforce:1:2/s"},
		{"replaces, in the other order", []string{"older=1", "old=1"}, "older enforce:1:2/s | - replaced:old"},
		{"replaces, all of a name", []string{"old=1", "old=2", "older=1"}, "- replaced:old | - replaced:old | older enforce:1:2/s"},
		{"what is replaced still replaces", []string{"old=1", "older=1", "new=1"}, "- replaced:old | - replaced:older | new enforce:1:3/s"},
		{"replaces nothing that did not match", []string{"new=1"}, "new enforce:1:3/s"},
		{"unlimited replaces", []string{"free=1", "old=1"}, "free unlimited | - replaced:old"},
		{"unlimited is not replaced", []string{"free=1", "tofree=1"}, "free unlimited | tofree enforce:1:4/s"},
		{"only names are replaced", []string{"unnamed=1", "byid=1"}, "unnamed enforce:1:5/s | byid enforce:1:6/s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tell(resolved(t, envoySet(t, Options{}, config), envoyAsk(tc.ask...))); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
	p := resolved(t, envoySet(t, Options{EnvoyCompat: true}, config), envoyAsk("shadow=1", "quota=1", "old=1"))
	want := "shadow always:1:1/s:fixed_window | quota always:1:1/s:fixed_window:group | old always:1:1/s:fixed_window"
	if got := tell(p); got != want {
		t.Errorf("compat: got  %s\nwant %s", got, want)
	}
}

// TestEnvoyCost: a descriptor's own cost wins and 0 there is a peek; 0 for the
// request means 1; a refund is one whatever the rule's mode.
func TestEnvoyCost(t *testing.T) {
	s := envoySet(t, Options{}, tree)
	for _, tc := range []struct {
		name    string
		request int64
		of      weir.Descriptor
		want    string
	}{
		{"nothing said", 0, weir.Descriptor{}, "exact_a enforce:1:1/s"},
		{"the request's", 7, weir.Descriptor{}, "exact_a enforce:7:1/s"},
		{"the descriptor's", 7, weir.Descriptor{HasCost: true, Cost: 3}, "exact_a enforce:3:1/s"},
		{"the descriptor's peek", 7, weir.Descriptor{HasCost: true}, "exact_a enforce:0:1/s"},
		{"a refund", 7, weir.Descriptor{Refund: true}, "exact_a refund:7:1/s"},
		{"a refund of its own", 0, weir.Descriptor{Refund: true, HasCost: true, Cost: 2}, "exact_a refund:2:1/s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := envoyAsk("exact=a")
			r.Cost = tc.request
			tc.of.Pairs = r.Descriptors[0].Pairs
			r.Descriptors[0] = tc.of
			if got := tell(resolved(t, s, r)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
	r := envoyAsk("exact=a")
	r.Cost = -1
	if err := s.Resolve(r, &Plan{}); weir.CodeOf(err) != weir.CodeInvalid || err == nil {
		t.Errorf("a cost below 0 gives %v, want an invalid request", err)
	}
}

// TestEnvoyZero: a limit of 0 denies what costs something, as its mode says.
func TestEnvoyZero(t *testing.T) {
	s := envoySet(t, Options{}, `
domain: d
descriptors:
  - key: zero
    rate_limit: {unit: minute, requests_per_unit: 0}
  - key: shadowzero
    shadow_mode: true
    rate_limit: {unit: minute, requests_per_unit: 0}
  - key: quotazero
    quota_mode: true
    rate_limit: {unit: minute, requests_per_unit: 0}
  - key: quota
    quota_mode: true
    rate_limit: {unit: minute, requests_per_unit: 5}
  - key: other
    rate_limit: {unit: minute, requests_per_unit: 5, replaces: [{name: gone}]}
  - key: gone
    rate_limit: {unit: minute, requests_per_unit: 0, name: gone}
`)
	for _, tc := range []struct {
		name   string
		ask    []string
		change func(*weir.Descriptor) // of the first
		want   bool
	}{
		{"denies", []string{"zero=1"}, nil, true},
		{"denies beside others", []string{"quota=1", "zero=1"}, nil, true},
		{"not in shadow", []string{"shadowzero=1"}, nil, false},
		{"the only quota", []string{"quotazero=1"}, nil, true},
		{"all quotas", []string{"quotazero=1", "quotazero=2", "other=1"}, nil, true},
		{"one quota of two", []string{"quotazero=1", "quota=1"}, nil, false},
		{"replaced", []string{"gone=1", "other=1"}, nil, false},
		{"a peek passes", []string{"zero=1"}, func(d *weir.Descriptor) { d.HasCost = true }, false},
		{"a refund passes", []string{"zero=1"}, func(d *weir.Descriptor) { d.Refund = true }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := envoyAsk(tc.ask...)
			if tc.change != nil {
				tc.change(&r.Descriptors[0])
			}
			if p := resolved(t, s, r); p.Denied() != tc.want {
				t.Errorf("denied: %v, want %v (%s)", p.Denied(), tc.want, tell(p))
			}
		})
	}
}
