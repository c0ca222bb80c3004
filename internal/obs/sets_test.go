package obs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirlimit/weir"
)

func allowed(serial uint32, rule int32) weir.Decision {
	return weir.Decision{Verdict: weir.Allow, SetSerial: serial, RuleIndex: rule}
}

func series(rule, version string) string {
	domain := "api"
	if rule == other || rule == none {
		domain = ""
	}
	return fmt.Sprintf(`weir_decisions_total{domain=%q,outcome="allow",rule=%q,source="store",version=%q}`, domain, rule, version)
}

func TestTwoVersionsAreExported(t *testing.T) {
	m := New(Options{})
	a, b := RuleInfo{"api", "a"}, RuleInfo{"api", "b"}
	m.SetLoaded(1, "v1", []RuleInfo{a, b})
	decide(m, 1, allowed(1, 0))
	decide(m, 2, allowed(1, 1))
	m.SetLoaded(2, "v2", []RuleInfo{b}) // b has another index now
	decide(m, 4, allowed(2, 0))
	decide(m, 8, allowed(1, 1)) // began under the old set
	got := scrape(t, m)
	got.want(t, samples{series("a", "v1"): 1, series("b", "v1"): 10, series("b", "v2"): 4})
	got.want(t, samples{`weir_config_info{version="v2"}`: 1, "weir_config_serial": 2, "weir_config_rules": 1})
	if n := len(got.of("weir_config_info")); n != 1 {
		t.Errorf("%d versions in force", n)
	}
}

func TestOldVersionsEndWithoutLoss(t *testing.T) {
	m := New(Options{})
	a := []RuleInfo{{"api", "a"}}
	m.SetLoaded(1, "v1", a)
	decide(m, 5, allowed(1, 0))
	scrape(t, m).want(t, samples{series("a", "v1"): 5})
	decide(m, 2, allowed(1, 0)) // seen by no scrape
	m.SetLoaded(2, "v2", a)
	if err := m.Stats(&strings.Builder{}); err != nil { // is no scrape either
		t.Fatal(err)
	}
	m.SetLoaded(3, "v3", a)
	decide(m, 4, allowed(1, 0)) // very late
	got := scrape(t, m)
	got.want(t, samples{series("other", "other"): 6, series("a", "v2"): 0, series("a", "v3"): 0})
	if _, ok := got[series("a", "v1")]; ok {
		t.Error("v1 is still exported")
	}
}

// TestHeadIsNoScrape: who asks for the header alone has seen no counter.
func TestHeadIsNoScrape(t *testing.T) {
	m := New(Options{})
	a := []RuleInfo{{"api", "a"}}
	m.SetLoaded(1, "v1", a)
	decide(m, 5, allowed(1, 0))
	m.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodHead, "/metrics", nil))
	m.SetLoaded(2, "v2", a)
	m.SetLoaded(3, "v3", a)
	scrape(t, m).want(t, samples{series("other", "other"): 5})
}

func TestAVersionThatComesBackGoesOn(t *testing.T) {
	m := New(Options{})
	a, b := []RuleInfo{{"api", "a"}}, []RuleInfo{{"api", "b"}}
	m.SetLoaded(1, "v1", a)
	decide(m, 3, allowed(1, 0))
	m.SetLoaded(2, "v2", b)
	decide(m, 4, allowed(2, 0))
	m.SetLoaded(3, "v1", a) // rolled back
	decide(m, 5, allowed(3, 0))
	m.SetLoaded(4, "v1", a) // and loaded again
	decide(m, 6, allowed(4, 0))
	scrape(t, m).want(t, samples{series("a", "v1"): 14})
}

func TestOneVersionTwoSets(t *testing.T) {
	m := New(Options{})
	m.SetLoaded(1, "v1", []RuleInfo{{"api", "a"}})
	decide(m, 3, allowed(1, 0))
	m.SetLoaded(2, "v1", []RuleInfo{{"api", "b"}})
	decide(m, 4, allowed(2, 0))
	decide(m, 2, allowed(1, 0))
	scrape(t, m).want(t, samples{series("b", "v1"): 4, series("other", "other"): 5})
}

func TestToldTwice(t *testing.T) {
	m := New(Options{})
	m.SetLoaded(1, "v1", []RuleInfo{{"api", "a"}})
	m.SetLoaded(2, "v2", []RuleInfo{{"api", "a"}})
	decide(m, 3, allowed(1, 0))
	m.SetLoaded(2, "v2", []RuleInfo{{"api", "a"}})
	decide(m, 4, allowed(1, 0))
	decide(m, 5, allowed(2, 0))
	scrape(t, m).want(t, samples{series("a", "v1"): 7, series("a", "v2"): 5})
}

// Before the first set, between a swap and SetLoaded, and for a rule that is
// not there, the request is counted all the same.
func TestUnknownSetsAndRules(t *testing.T) {
	m := New(Options{})
	decide(m, 1, allowed(0, 0))
	m.SetLoaded(1, "v1", []RuleInfo{{"api", "a"}})
	decide(m, 2, allowed(2, 0))
	decide(m, 3, allowed(1, 1))
	decide(m, 4, allowed(1, 1<<31-1))
	decide(m, 5, allowed(1, -1<<31))
	scrape(t, m).only(t, "weir_decisions_total", samples{
		series("other", "other"): 3, series("other", "v1"): 12, series("a", "v1"): 0,
		strings.Replace(series("a", "v1"), "allow", "deny", 1): 0,
	})
}

func TestRulesBeyondTheCapShareASeries(t *testing.T) {
	m := New(Options{MaxRules: 3})
	m.SetLoaded(1, "v1", someRules(10))
	for i := range int32(10) {
		decide(m, 1, allowed(1, i))
		m.Hooks().Degraded(&weir.Decision{SetSerial: 1, RuleIndex: i}, someErr)
	}
	got := scrape(t, m)
	got.want(t, samples{
		series("tenant_2.path", "v1"): 1, series("other", "v1"): 7,
		`weir_degraded_total{domain="",reason="timeout",rule="other",version="v1"}`: 7,
		"weir_config_rules": 10, "weir_config_unnamed_rules": 7,
	})
	if n := len(got.of("weir_decisions_total")); n != 3*2+1 {
		t.Errorf("%d series", n)
	}
}

func TestHostileNames(t *testing.T) {
	m := New(Options{})
	rules := []RuleInfo{
		{"api", "a\"} 1\nweir_panics_total 7\n# \\"},
		{"api", "bad \xff\xfe"},
		{"api", "bad \xfd"}, // looks like the one before when it is exported
		{"", "other"},
		{"", "none"},
		{"", ""},
		{"api", "twice"},
		{"api", "twice"},
		{"api", strings.Repeat("long", 1000)},
	}
	m.SetLoaded(1, "v\"\n\xff", rules)
	for i := range rules {
		decide(m, 1, allowed(1, int32(i)))
	}
	decide(m, 1, allowed(1, -1))
	got := scrape(t, m)
	got.want(t, samples{
		series(rules[0].ID, "v\"\n\uFFFD"):  1,
		series("bad \uFFFD", "v\"\n\uFFFD"): 1,
		series("twice", "v\"\n\uFFFD"):      1,
		series(rules[8].ID, "v\"\n\uFFFD"):  1,
		series("none", "v\"\n\uFFFD"):       1,
		series("other", "v\"\n\uFFFD"):      5,
		"weir_panics_total":                 0,
	})
	m.SetLoaded(2, other, rules)
	decide(m, 3, allowed(2, 0))
	scrape(t, m).want(t, samples{series("other", "other"): 3})
}

// TestNothingIsLostBetweenScrapes follows the counters as Prometheus does, while
// requests are decided and sets are swapped: no series goes back, and the
// increases add up to what was decided.
func TestNothingIsLostBetweenScrapes(t *testing.T) {
	const workers, each, swaps = 4, 2000, 60
	m := New(Options{})
	m.SetLoaded(1, "v1", someRules(5))
	var serial atomic.Uint32
	serial.Store(1)
	var deciding, others sync.WaitGroup
	for w := range workers {
		deciding.Go(func() {
			for i := range each {
				decide(m, 1, allowed(serial.Load(), int32((w+i)%6)-1))
				if i%10 == 0 {
					m.Hooks().Degraded(&weir.Decision{SetSerial: serial.Load(), RuleIndex: int32(i % 5)}, someErr)
				}
			}
		})
	}
	others.Go(func() {
		for range swaps {
			n := serial.Load() + 1
			m.SetLoaded(n, fmt.Sprint("v", n), someRules(1+int(n%5)))
			serial.Store(n)
		}
	})
	increase, last := samples{}, samples{}
	follow := func() {
		now := scrape(t, m)
		for _, name := range []string{"weir_decisions_total", "weir_degraded_total"} {
			for key, v := range now.of(name) {
				if v < last[key] {
					t.Errorf("%s went from %v to %v", key, last[key], v)
				}
				increase[name] += v - last[key]
			}
		}
		last = now
	}
	done := make(chan struct{})
	go func() { deciding.Wait(); others.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		follow()
	}
	if got := increase["weir_decisions_total"]; got != workers*each {
		t.Errorf("%v decisions were seen, of %d", got, workers*each)
	}
	if got := increase["weir_degraded_total"]; got != workers*each/10 {
		t.Errorf("%v degraded answers were seen, of %d", got, workers*each/10)
	}
	if got := last.of("weir_check_duration_seconds_count").sum(); got != workers*each {
		t.Errorf("%v durations were seen, of %d", got, workers*each)
	}
}
