package policy

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
)

// lintText lints one native file and writes the warnings as line:column code.
func lintText(t *testing.T, text string) []Problem {
	t.Helper()
	return Lint([]*File{{Name: "test.yaml", Native: parseNative(t, text)}})
}

func TestLint(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"clean", "- {id: a, by: tenant, limits: [100/s burst 200, 100000/h], on_failure: open}", nil},
		{"no fail mode", "- {id: a, limits: 5/s}\n- {id: b, limits: 50/m, on_failure: closed}", []string{
			"2:3 no-fail-mode: policy a does not say what happens when the store cannot answer (write on_failure: open, closed or local)",
		}},
		{"cost", "- {id: a, limits: 50/s burst 20, on_failure: open, cost: 21}", []string{
			`2:58 cost-above-capacity: "*" costs 21, and 50/s burst 20 never has room for more than 20 (lower the cost, or raise the burst or the count)`,
		}},
		{"cost in a plan", "- id: a\n  limits: 50/s\n  plans: {free: 10/s}\n  cost: {POST /x: 11, /y: 10}\n  on_failure: open", []string{
			`5:10 cost-above-capacity: "POST /x" costs 11, and 10/s never has room for more than 10 (lower the cost, or raise the burst or the count)`,
		}},
		{"cost and concurrency", "- {id: a, limits: [50/s, 2 concurrency m], on_failure: open, cost: 9}", nil},
		{"cost order", "- id: a\n  limits: 50/s\n  cost: {/v1/*: 2, GET /v1/x: 3, \"*\": 1, /z: 3}\n  on_failure: open", []string{
			`4:20 unreachable: the cost of "GET /v1/x" is never used: "/v1/*" comes first (put it before the other)`,
			`4:42 unreachable: the cost of "/z" is never used: "*" comes first (put it before the other)`,
		}},
		{"never binds", "- {id: a, limits: [100/s, 1000000/m], on_failure: open}", []string{
			"2:27 never-binds: 1000000/m can never deny: 100/s always does so first (remove it, or make it tighter)",
		}},
		{"never binds in a plan", "- id: a\n  limits: 9/s\n  plans: {pro: [50/m, 60/s burst 50]}\n  on_failure: open", []string{
			"4:23 never-binds: 60/s burst 50 can never deny: 50/m always does so first (remove it, or make it tighter)",
		}},
		{"user above tenant", "- {id: u, by: [tenant, user], limits: 500/s, on_failure: open}\n- {id: t, by: tenant, limits: 100/s, on_failure: open}", []string{
			"2:39 never-binds: 500/s can never deny: 100/s of policy t (test.yaml:3:3) always does so first (make it tighter, or the other one wider)",
		}},
		{"the same twice", "- {id: a, by: ip, limits: 5/s, on_failure: open}\n- {id: b, by: ip, limits: 5/s, on_failure: open}", []string{
			"3:27 never-binds: 5/s can never deny: 5/s of policy a (test.yaml:2:3) always does so first (make it tighter, or the other one wider)",
		}},
		{"tenant within shadow", "- {id: u, by: [tenant, user], limits: 500/s, on_failure: open}\n- {id: t, by: tenant, limits: 100/s, on_failure: open, mode: shadow}", nil},
		{"other costs", "- {id: u, by: [tenant, user], limits: 500/s, on_failure: open}\n- {id: t, by: tenant, limits: 100/s, on_failure: open, cost: 2}", nil},
		{"plan kept away", "- id: a\n  match: {plan: [free, f*]}\n  limits: 9/s\n  plans: {fun: 2/s, pro: 3/s}\n  on_failure: open", []string{
			`5:21 unreachable: the limits of plan "pro" are never used: match is for plan free, f* only (take the plan out, or let match take it in)`,
		}},
		{"long timeout", "- {id: a, concurrency: {max: 3, timeout: 2h}, on_failure: open}\n- {id: b, limits: 2 concurrency d, on_failure: open}", []string{
			"2:24 unreleased: nothing but a release frees a place of 3 concurrency 2h: a caller that crashes holds it until the timeout (make the timeout little longer than the longest request)",
			"3:19 unreleased: nothing but a release frees a place of 2 concurrency d: a caller that crashes holds it until the timeout (make the timeout little longer than the longest request)",
		}},
		{"small leases", "- {id: a, by: x, limits: [500/m, 19/s], plans: {b: 30/s burst 10}, lease: auto, on_failure: open}\n- {id: c, by: y, limits: [20/m], lease: auto, on_failure: open}\n- {id: d, by: z, limits: [2/m], lease: off, on_failure: open}", []string{
			"2:34 not-leased: nothing of 19/s is leased: 5% of 19 is less than a unit (take lease out, or raise the burst or the count)",
			"2:52 not-leased: nothing of 30/s burst 10 is leased: 5% of 10 is less than a unit (take lease out, or raise the burst or the count)",
		}},
		{"cost of a part", "- {id: a, limits: 100/s, counter_shards: 8, cost: 13, on_failure: open}\n- {id: b, limits: 100/m, counter_shards: 8, cost: 12, on_failure: open}", []string{
			`2:51 cost-above-capacity: "*" costs 13, and one of 8 parts of 100/s never has room for more than 12 (lower the cost, or use fewer shards)`,
		}},
		{"parts of users", "- {id: u, by: [tenant, user], limits: 500/s, counter_shards: 9, on_failure: open}\n- {id: t, by: tenant, limits: 100/s, on_failure: open}", nil},
		{"path", "- {id: a, by: [tenant, path], limits: 9/s, on_failure: open}", []string{
			"2:3 unbounded-key: policy a counts by path: whoever makes up paths makes up counters (count by route: a request without one has the pattern that it matched)",
		}},
		{"typos", "- {id: a, match: {regoin: eu, route: PSOT /x, zone: a}, by: [tenent], limits: 9/s, on_failure: open}", []string{
			`2:3 likely-typo: PSOT is not a method of HTTP (did you mean POST?)`,
			`2:3 likely-typo: dimension "tenent" is nearly tenant (did you mean tenant?)`,
			`2:19 likely-typo: dimension "regoin" is nearly region (did you mean region?)`,
		}},
	} {
		var got []string
		for _, p := range lintText(t, "policies:\n"+tc.text+"\n") {
			if !p.Warning {
				t.Errorf("%s: %v is not a warning", tc.name, p)
			}
			got = append(got, fmt.Sprintf("%d:%d %s: %s (%s)", p.At.Line, p.At.Column, p.Code, p.Message, p.Hint))
		}
		if !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, strings.Join(got, "\n     "), strings.Join(tc.want, "\n     "))
		}
	}
}

func TestLintTooManyLimits(t *testing.T) {
	var b strings.Builder
	b.WriteString("policies:\n")
	for i := range 33 {
		fmt.Fprintf(&b, "- {id: p%d, by: d%d, limits: [5/s burst 10, 6/s], on_failure: open}\n", i, i)
	}
	got := lintText(t, b.String())
	got = slices.DeleteFunc(got, func(p Problem) bool { return p.Code != "too-many-limits" })
	if len(got) != 1 || !strings.Contains(got[0].Message, "policy p32") || !strings.Contains(got[0].Message, "66 limits") {
		t.Errorf("%v", got)
	}
}

func TestLintPlansAcrossFiles(t *testing.T) {
	files := []*File{
		{Native: parseNative(t, "policies: [{id: a, limits: 9/s, plans: {pro: 2/s}, on_failure: open}]")},
		{Native: parseNative(t, "policies: [{id: b, match: {plan: gold-*}, limits: 9/m, on_failure: open}]\ntenants: {a: pro, b: gold-1, c: por, d: silver}")},
	}
	got := Lint(files)
	if len(got) != 2 || got[0].Code != "unknown-plan" || got[0].Hint != "did you mean pro?" || !strings.Contains(got[1].Message, "silver") {
		t.Errorf("%v", got)
	}
}

func TestLintEnvoyLimits(t *testing.T) {
	text := `
domain: d
descriptors:
  - key: a
    descriptors:
      - key: b
        rate_limit: {unit: second, requests_per_unit: 10}
        rate_limits:
          - {unit: minute, requests_per_unit: 601}
          - {unit: hour, requests_per_unit: 5000}
`
	f, problems := ParseEnvoy("e.yaml", []byte(text))
	if f == nil {
		t.Fatal(problems)
	}
	got := Lint([]*File{{Name: "e.yaml", Envoy: f}})
	if len(got) != 1 || got[0].Code != "never-binds" || got[0].At.Line != 9 {
		t.Errorf("%v", got)
	}
}

func TestImplies(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"100/s", "6000/m", true},
		{"100/s", "5999/m", false},
		{"100/s burst 200", "6200/m", true},
		{"100/s burst 200", "6199/m", false},
		{"100/s", "10000000/d", true},
		{"3000/m", "3000/s", true},
		{"3000/m", "2999/s", false},
		{"5/7s", "10/8s", true},
		{"5/7s", "9/8s", false},
		{"5/s fixed_window", "300/m fixed_window", true},
		{"5/s fixed_window", "300/m", false},
		{"5/s fixed_window", "305/m", true},
		{"5/7s fixed_window", "50/m fixed_window", true},
		{"5/7s fixed_window", "49/m fixed_window", false},
		{"10/s burst 20", "10/s burst 20", true},
		{"10/s burst 20", "10/s burst 19", false},
		{"10/s burst 20", "9/s burst 20", false},
		{"10/s", "10/s burst 10", true},
		{"10/s", "599/m burst 10", false},
		{"10/s fixed_window", "10/s burst 19", false},
		{"10/s fixed_window", "10/s burst 20", true},
		{"10/s leaky_bucket", "10/s burst 10", true},
		{"10/s", "10/s leaky_bucket", false},
		{"1 concurrency 1s", "5/s", false},
		{"5/s", "9 concurrency 1s", false},
		{"5/m sliding_log", "5/m", true},
		{"10000000/s", "10000000/d", false},
		{"1/d", "10000000/s burst 1", true},
	} {
		a, errA := weir.ParseLimit(tc.a)
		b, errB := weir.ParseLimit(tc.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if got := implies(a, b); got != tc.want {
			t.Errorf("%s implies %s: %v, want %v", a, b, got, tc.want)
		}
	}
}
