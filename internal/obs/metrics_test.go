package obs

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/identity"
)

var someErr = &weir.Error{Code: weir.CodeTimeout}

func decide(m *Metrics, n int, d weir.Decision) {
	decided := m.Hooks().Decided
	for range n {
		decided(&weir.Request{Domain: "evil", Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "evil"}}}}}, &d, 300*time.Microsecond)
	}
}

func TestDecisionsAreCountedExactly(t *testing.T) {
	m := New(Options{})
	m.SetLoaded(7, "v1", []RuleInfo{{"api", "login"}, {"api", "search"}})
	decide(m, 3, weir.Decision{Verdict: weir.Allow, SetSerial: 7})
	decide(m, 2, weir.Decision{Verdict: weir.Deny, SetSerial: 7})
	decide(m, 4, weir.Decision{Verdict: weir.Deny, Source: weir.SourceDenyCache, SetSerial: 7, RuleIndex: 1})
	decide(m, 5, weir.Decision{Verdict: weir.Allow, Source: weir.SourceSwitch, SetSerial: 7, RuleIndex: 1})
	decide(m, 6, weir.Decision{Verdict: weir.Allow, Reason: weir.ReasonNoRule, SetSerial: 7, RuleIndex: -1})
	decide(m, 1, weir.Decision{SetSerial: 7})
	decide(m, 1, weir.Decision{Verdict: weir.Deny, Source: 200, SetSerial: 7})
	scrape(t, m).only(t, "weir_decisions_total", samples{
		`weir_decisions_total{domain="api",outcome="allow",rule="login",source="store",version="v1"}`:      3,
		`weir_decisions_total{domain="api",outcome="deny",rule="login",source="store",version="v1"}`:       3,
		`weir_decisions_total{domain="api",outcome="undecided",rule="login",source="store",version="v1"}`:  1,
		`weir_decisions_total{domain="api",outcome="allow",rule="search",source="store",version="v1"}`:     0,
		`weir_decisions_total{domain="api",outcome="deny",rule="search",source="store",version="v1"}`:      0,
		`weir_decisions_total{domain="api",outcome="deny",rule="search",source="deny_cache",version="v1"}`: 4,
		`weir_decisions_total{domain="api",outcome="allow",rule="search",source="switch",version="v1"}`:    5,
		`weir_decisions_total{domain="",outcome="allow",rule="none",source="store",version="v1"}`:          6,
	})
}

func TestCheckDuration(t *testing.T) {
	m := New(Options{})
	scrape(t, m).want(t, samples{`weir_check_duration_seconds_count{source="store"}`: 0})
	decide(m, 2, weir.Decision{Verdict: weir.Allow}) // 300 us each
	decide(m, 1, weir.Decision{Verdict: weir.Allow, Source: weir.SourceLease})
	got := scrape(t, m)
	got.want(t, samples{
		`weir_check_duration_seconds_count{source="store"}`:               2,
		`weir_check_duration_seconds_sum{source="store"}`:                 0.0006,
		`weir_check_duration_seconds_bucket{source="store",le="0.00025"}`: 0,
		`weir_check_duration_seconds_bucket{source="store",le="0.0005"}`:  2,
		`weir_check_duration_seconds_count{source="lease"}`:               1,
	})
}

func TestEventsAreCounted(t *testing.T) {
	m := New(Options{})
	h := m.Hooks()
	h.Panicked("index out of range of tenant evil")
	h.Evicted(5)
	h.Evicted(-1)
	h.Lost(weir.LossRefund, 2)
	h.Lost(weir.LossRefund, 1)
	h.Lost(weir.Loss(99), 4)
	got := scrape(t, m)
	got.want(t, samples{"weir_panics_total": 1, "weir_evicted_states_total": 5})
	got.only(t, "weir_losses_total", samples{
		`weir_losses_total{kind="late_answer"}`:   0,
		`weir_losses_total{kind="refund"}`:        3,
		`weir_losses_total{kind="uncertain"}`:     0,
		`weir_losses_total{kind="corrupt_state"}`: 0,
		`weir_losses_total{kind="unknown"}`:       4,
	})
}

func TestDegradedAnswersByRuleAndReason(t *testing.T) {
	m := New(Options{})
	m.SetLoaded(1, "v1", []RuleInfo{{"api", "login"}, {"api", "search"}})
	degraded := m.Hooks().Degraded
	d := &weir.Decision{SetSerial: 1, RuleIndex: 1}
	degraded(d, someErr)
	degraded(d, fmt.Errorf("submit: %w", someErr))
	degraded(d, &weir.Error{Code: weir.CodeClusterDown})
	degraded(d, errors.New("what is this"))
	degraded(d, &weir.Error{Code: 200})
	degraded(&weir.Decision{SetSerial: 1, RuleIndex: -1}, someErr)
	degraded(&weir.Decision{SetSerial: 9}, someErr)
	scrape(t, m).only(t, "weir_degraded_total", samples{
		`weir_degraded_total{domain="api",reason="timeout",rule="search",version="v1"}`:     2,
		`weir_degraded_total{domain="api",reason="clusterdown",rule="search",version="v1"}`: 1,
		`weir_degraded_total{domain="api",reason="internal",rule="search",version="v1"}`:    2,
		`weir_degraded_total{domain="",reason="timeout",rule="none",version="v1"}`:          1,
		`weir_degraded_total{domain="",reason="timeout",rule="other",version="other"}`:      1,
	})
}

func TestBuildAndRuntime(t *testing.T) {
	m := New(Options{Version: "1.2.3", Revision: "abc\xff"})
	got := scrape(t, m)
	if n := len(got.of("weir_build_info")); n != 1 {
		t.Errorf("%d series of weir_build_info", n)
	}
	if got["go_goroutines"] < 1 || got["process_start_time_seconds"] <= 0 {
		t.Error("the runtime's or the process's metrics are missing")
	}
}

func TestOpenMetrics(t *testing.T) {
	m := New(Options{})
	m.SetLoaded(1, "v1", []RuleInfo{{"api", "a\"\n"}})
	r := httptest.NewRequest("GET", "/metrics", nil)
	r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, r)
	if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "application/openmetrics-text") {
		t.Errorf("content type %q", got)
	}
	if body := w.Body.String(); !strings.HasSuffix(body, "# EOF\n") || !strings.Contains(body, `rule="a\"\n"`) {
		t.Errorf("not whole, or not escaped:\n%s", body)
	}
}

// An idle and a busy process export names and help that Prometheus's own linter
// has nothing against.
func TestNamesAndHelp(t *testing.T) {
	m := New(Options{})
	m.SetLoaded(1, "v1", []RuleInfo{{"api", "login"}})
	decide(m, 1, weir.Decision{Verdict: weir.Allow, SetSerial: 1})
	m.Hooks().Degraded(&weir.Decision{SetSerial: 1}, someErr)
	m.Hooks().StoreCall(weir.StoreCall{Shard: "a:1", Entries: 1, Took: 1, Script: 1, Err: someErr})
	m.Reloaded(Reload{OK: true})
	m.Rejected(identity.JWT, identity.Expired)
	m.Followed("salts", true)
	m.Instances(2)
	m.ClockOffset(time.Second, time.Millisecond)
	m.CertificateEnds("grpc", time.Unix(1_800_000_000, 0))
	families, err := m.scrape()
	if err != nil {
		t.Fatal(err)
	}
	var own int
	for _, f := range families {
		if len(f.GetName()) > 5 && f.GetName()[:5] == "weir_" {
			own++
		}
	}
	if own != len(descs) {
		t.Errorf("%d names are exported, %d described: the test leaves some out", own, len(descs))
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestHooksDoNotAllocate(t *testing.T) {
	m := New(Options{})
	m.SetLoaded(1, "v1", someRules(10))
	h := m.Hooks()
	r, d := &weir.Request{}, &weir.Decision{Verdict: weir.Allow, SetSerial: 1, RuleIndex: 3}
	call := weir.StoreCall{Shard: "a:1", Entries: 3, Took: time.Millisecond, Err: someErr}
	h.StoreCall(call) // the first call to a shard allocates
	if n := testing.AllocsPerRun(100, func() {
		h.Decided(r, d, time.Millisecond)
		h.Degraded(d, someErr)
		h.StoreCall(call)
		h.Panicked("x")
		h.Evicted(1)
		h.Lost(weir.LossRefund, 1)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The arrays have a slot for everything that weir can name; this fails when
// weir learns a new one.
func TestNothingIsWithoutASlot(t *testing.T) {
	if s := weir.Source(sources); s.String() != weir.SourceStore.String() {
		t.Errorf("source %v is not counted", s)
	}
	if c := weir.Code(codes); c.String() != weir.CodeInternal.String() {
		t.Errorf("code %v is not counted", c)
	}
	if l := weir.Loss(losses); l.String() != "unknown" {
		t.Errorf("loss %v is not counted", l)
	}
	if sources >= perVerdict || codes > 1<<codeShift || len(durations.bounds) >= maxBuckets || len(sizes.bounds) >= maxBuckets {
		t.Error("the arrays are too small")
	}
}
