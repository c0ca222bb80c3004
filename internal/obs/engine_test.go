package obs

import (
	"context"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
)

// A real engine's decisions find their rules, also after the numbers of the
// rules have changed, and when the store is gone.
func TestAnEngineIsCounted(t *testing.T) {
	m := New(Options{})
	store := memstore.New()
	e, err := engine.New(engine.Options{Store: store, Hooks: m.Hooks()})
	if err != nil {
		t.Fatal(err)
	}
	check := func(n int, key string) {
		t.Helper()
		r := &weir.Request{Domain: "api", Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: key, Value: "x"}}}}}
		var d weir.Decision
		for range n {
			if err := e.Check(context.Background(), r, &d); err != nil {
				t.Fatal(err)
			}
		}
	}
	load := func(yaml string) string {
		t.Helper()
		f, problems := policy.ParseEnvoy("a.yaml", []byte(yaml))
		if policy.HasErrors(problems) {
			t.Fatal(problems)
		}
		set, problems := policy.Compile([]*policy.File{{Name: "a.yaml", Envoy: f}}, policy.Options{})
		if set == nil {
			t.Fatal(problems)
		}
		rules := make([]RuleInfo, len(set.Rules()))
		for i, r := range set.Rules() {
			rules[i] = RuleInfo{Domain: r.Domain, ID: r.ID}
		}
		m.SetLoaded(e.NextSerial(), set.Version(), rules)
		e.Swap(set)
		return set.Version()
	}
	const user = "{key: user, rate_limit: {unit: hour, requests_per_unit: 3}}"
	v1 := load("{domain: api, descriptors: [" + user + "]}")
	check(5, "user")
	check(2, "nobody")
	v2 := load("{domain: api, descriptors: [{key: ip, rate_limit: {unit: hour, requests_per_unit: 2}}, " + user + "]}")
	check(3, "ip")
	check(1, "user")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	check(4, "ip")
	count := func(rule, version, outcome, source string) string {
		domain := "api"
		if rule == none {
			domain = ""
		}
		return `weir_decisions_total{domain="` + domain + `",outcome="` + outcome + `",rule="` + rule + `",source="` + source + `",version="` + version + `"}`
	}
	scrape(t, m).want(t, samples{
		count("user", v1, "allow", "store"):                                                3,
		count("user", v1, "deny", "store"):                                                 2,
		count("none", v1, "allow", "store"):                                                2,
		count("ip", v2, "allow", "store"):                                                  2,
		count("ip", v2, "deny", "store"):                                                   1,
		count("user", v2, "deny", "store"):                                                 1,
		count("ip", v2, "allow", "backstop"):                                               4,
		`weir_degraded_total{domain="api",reason="closed",rule="ip",version="` + v2 + `"}`: 4,
		`weir_check_duration_seconds_count{source="store"}`:                                11,
	})
}
