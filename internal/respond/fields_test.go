package respond_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/respond"
)

// now is an instant that no rounding leaves alone.
const now = weir.Micros(1_767_225_600_000_001)

func limit(t testing.TB, text string) weir.Limit {
	t.Helper()
	l, err := weir.ParseLimit(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// charged is a charge of a rule, fitting or not.
func charged(t testing.TB, rule, text string, ok bool) weir.Charged {
	t.Helper()
	return weir.Charged{Rule: rule, Limit: limit(t, text), Cost: 1, Outcome: weir.Outcome{OK: ok}}
}

// denied is a denial by limit text of rule.
func denied(t testing.TB, rule, text string, retry weir.Micros, charges ...weir.Charged) *weir.Decision {
	t.Helper()
	d := &weir.Decision{
		Verdict: weir.Deny, Reason: weir.ReasonExhausted, Rule: rule, Limit: limit(t, text),
		RetryAfter: retry, ResetAfter: 10 * weir.Second, Charges: charges,
	}
	if retry == weir.Never {
		d.Reason = weir.ReasonTooCostly
	}
	return d
}

func allowed(t testing.TB, rule, text string, remaining int64, charges ...weir.Charged) *weir.Decision {
	t.Helper()
	return &weir.Decision{
		Verdict: weir.Allow, Rule: rule, Limit: limit(t, text),
		Remaining: remaining, ResetAfter: 2500 * weir.Millisecond, Charges: charges,
	}
}

func lines(a *respond.Answer) []string {
	var f respond.Fields
	f.Fill(a)
	var out []string
	for i := range f.Len() {
		name, value := f.Field(i)
		out = append(out, name+": "+string(value))
	}
	return out
}

func TestFields(t *testing.T) {
	shadow := charged(t, "trial", "1/d", false)
	shadow.Mode = weir.Shadow
	for _, c := range []struct {
		name  string
		d     *weir.Decision
		scope string
		want  []string
	}{
		{"allowed", allowed(t, "api", "100/m", 99, charged(t, "api", "100/m", true)), "tenant", []string{
			`RateLimit-Policy: "api";q=100;w=60`,
			`RateLimit: "api";r=99;t=3`,
			`X-RateLimit-Limit: 100`,
			`X-RateLimit-Remaining: 99`,
			`X-RateLimit-Reset: 1767225603`,
			`X-RateLimit-Policy: api`,
			`X-RateLimit-Scope: tenant`,
		}},
		{"denied, several windows", denied(
			t, "api", "100/s burst 200", 10*weir.Millisecond,
			charged(t, "api", "100/s burst 200", false), charged(t, "api", "3000/m", true), charged(t, "global", "5000/30s fixed_window", true),
		), "tenant,route", []string{
			`RateLimit-Policy: "api:1s";q=100;w=1;weir-burst=200, "api:1m";q=3000;w=60, "global";q=5000;w=30`,
			`RateLimit: "api:1s";r=0;t=1`,
			`X-RateLimit-Limit: 200`,
			`X-RateLimit-Remaining: 0`,
			`X-RateLimit-Reset: 1767225611`,
			`X-RateLimit-Policy: api:1s`,
			`X-RateLimit-Scope: tenant,route`,
			`Retry-After: 1`,
		}},
		{"limits that differ in algorithm", denied(
			t, "api", "5/m fixed_window", weir.Minute,
			charged(t, "api", "5/m burst 9", true), charged(t, "api", "5/m fixed_window", false), charged(t, "api", "3 concurrency 60s", true),
		), "", []string{
			`RateLimit-Policy: "api:1m:gcra";q=5;w=60;weir-burst=9, "api:1m:fixed_window";q=5;w=60, "api:concurrency";q=3;qu="concurrent-requests"`,
			`RateLimit: "api:1m:fixed_window";r=0;t=60`,
			`X-RateLimit-Limit: 5`,
			`X-RateLimit-Remaining: 0`,
			`X-RateLimit-Reset: 1767225611`,
			`X-RateLimit-Policy: api:1m:fixed_window`,
			`Retry-After: 60`,
		}},
		{"concurrency", denied(t, "uploads", "20 concurrency 30s", 30*weir.Second, charged(t, "uploads", "20 concurrency 30s", false)), "", []string{
			`RateLimit-Policy: "uploads";q=20;qu="concurrent-requests"`,
			`RateLimit: "uploads";r=0`,
			`X-RateLimit-Limit: 20`,
			`X-RateLimit-Remaining: 0`,
			`X-RateLimit-Reset: 1767225611`,
			`X-RateLimit-Policy: uploads`,
			`Retry-After: 30`,
		}},
		{"can never pass", denied(t, "api", "5/m", weir.Never, charged(t, "api", "5/m", false)), "", []string{
			`RateLimit-Policy: "api";q=5;w=60`,
			`RateLimit: "api";r=0;t=10`,
			`X-RateLimit-Limit: 5`,
			`X-RateLimit-Remaining: 0`,
			`X-RateLimit-Reset: 1767225611`,
			`X-RateLimit-Policy: api`,
		}},
		{"one limit for two descriptors", allowed(t, "ip", "9/s burst 9", 1, charged(t, "ip", "9/s burst 9", true), charged(t, "ip", "9/s burst 9", true)), "", []string{
			`RateLimit-Policy: "ip";q=9;w=1`,
			`RateLimit: "ip";r=1;t=3`,
			`X-RateLimit-Limit: 9`,
			`X-RateLimit-Remaining: 1`,
			`X-RateLimit-Reset: 1767225603`,
			`X-RateLimit-Policy: ip`,
		}},
		{"charges not filled, no name", allowed(t, "", "9/s", 8), "", []string{
			`RateLimit-Policy: "default";q=9;w=1`,
			`RateLimit: "default";r=8;t=3`,
			`X-RateLimit-Limit: 9`,
			`X-RateLimit-Remaining: 8`,
			`X-RateLimit-Reset: 1767225603`,
			`X-RateLimit-Policy: default`,
		}},
		{"shadow beside an enforced one", allowed(t, "api", "100/m", 9, shadow, charged(t, "api", "100/m", true)), "", []string{
			`RateLimit-Policy: "api";q=100;w=60`,
			`RateLimit: "api";r=9;t=3`,
			`X-RateLimit-Limit: 100`,
			`X-RateLimit-Remaining: 9`,
			`X-RateLimit-Reset: 1767225603`,
			`X-RateLimit-Policy: api`,
		}},
		{"shadow alone", allowed(t, "trial", "1/d", 0, shadow), "tenant", nil},
		{"no rule", &weir.Decision{Verdict: weir.Allow, Reason: weir.ReasonNoRule}, "", nil},
		{"fails open", &weir.Decision{Verdict: weir.Allow, Reason: weir.ReasonDegraded, Rule: "api"}, "", nil},
		{"fails closed", &weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonDegraded, Rule: "login"}, "", []string{`Retry-After: 1`}},
		{"admits nothing", &weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonExhausted, Rule: "off", RetryAfter: weir.Never}, "", nil},
		{"undecided", &weir.Decision{}, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := respond.To(c.d, now, nil)
			a.Scope = c.scope
			if have := lines(&a); !slices.Equal(have, c.want) {
				t.Errorf("have\n%q\nwant\n%q", have, c.want)
			}
		})
	}
}

func TestListIsBounded(t *testing.T) {
	d := allowed(t, "rule-40", "40/s", 1)
	for i := range int64(64) {
		c := charged(t, "rule-"+string('0'+rune(i/10))+string('0'+rune(i%10)), "1/s", true)
		c.Limit.Count = max(1, i)
		d.Charges = append(d.Charges, c)
	}
	a := respond.To(d, now, nil)
	list := parseList(t, a.AppendPolicies(nil))
	if len(list) != respond.MaxPolicies {
		t.Fatalf("%d policies are listed", len(list))
	}
	if last := list[len(list)-1].Value; last != "rule-40" {
		t.Errorf("the last is %v, not the one that binds", last)
	}
}

func TestFieldsAreReplaced(t *testing.T) {
	var f respond.Fields
	a := respond.To(denied(t, "api", "5/m", weir.Second, charged(t, "api", "5/m", false)), now, nil)
	f.Fill(&a)
	h := http.Header{"Ratelimit": {"old", "older"}, "Retry-After": {"9"}, "Vary": {"Origin"}}
	f.Set(h)
	want := http.Header{
		"Ratelimit-Policy":      {`"api";q=5;w=60`},
		"Ratelimit":             {`"api";r=0;t=1`},
		"X-Ratelimit-Limit":     {"5"},
		"X-Ratelimit-Remaining": {"0"},
		"X-Ratelimit-Reset":     {"1767225611"},
		"X-Ratelimit-Policy":    {"api"},
		"Retry-After":           {"1"},
		"Vary":                  {"Origin"},
	}
	if len(h) != len(want) {
		t.Errorf("have %v, want %v", h, want)
	}
	for name, values := range want {
		if have := h.Values(name); !slices.Equal(have, values) { // Values canonicalizes: the keys are right
			t.Errorf("%s: have %q, want %q", name, have, values)
		}
	}
	h.Add("RateLimit", "more")
	if have := h.Get("X-RateLimit-Limit"); have != "5" {
		t.Errorf("adding to one field changed another: %q", have)
	}

	none := respond.To(&weir.Decision{Verdict: weir.Allow}, now, nil)
	f.Fill(&none)
	if f.Len() != 0 {
		t.Errorf("%d fields are left of the answer before", f.Len())
	}
}

// TestSetLower: the same values, under the names that gRPC metadata has.
func TestSetLower(t *testing.T) {
	a := respond.To(busy(t), now, most)
	var f respond.Fields
	f.Fill(&a)
	h, md := map[string][]string{}, map[string][]string{}
	f.Set(h)
	f.SetLower(md)
	if len(md) != len(h) || len(md) != f.Len() || f.Len() < 7 {
		t.Fatalf("%v beside %v", md, h)
	}
	for key, values := range h {
		if !slices.Equal(md[strings.ToLower(key)], values) {
			t.Errorf("%s: %v, want %v", key, md[strings.ToLower(key)], values)
		}
	}
}

// TestDegradedTellsNoState: what a fail mode let pass knows nothing of what is
// left, and must not say that it is 0.
func TestDegradedTellsNoState(t *testing.T) {
	d := &weir.Decision{Verdict: weir.Allow, Reason: weir.ReasonDegraded, Source: weir.SourceBackstop, Rule: "api", Limit: limit(t, "3000/m")}
	a := respond.To(d, now, nil)
	var f respond.Fields
	f.Fill(&a)
	for i := range f.Len() {
		name, value := f.Field(i)
		t.Errorf("%s: %s", name, value)
	}
}
