package policy

import (
	"reflect"
	"strings"
	"testing"
)

const fleetText = `
policies:
  - id: fleet
    limits: 100/s burst 10
    answer: unavailable
    on_failure: open
  - id: fleet-rest
    match: {priority: [test, read, write]}
    limits: 80/s burst 8
    answer: unavailable
    on_failure: open
  - {id: tenants, by: tenant, limits: 5/s, answer: limited, on_failure: open}
`

// TestPriorityMatches: what is not said, or made up, is not critical: nobody
// gets at what is reserved by leaving the priority out.
func TestPriorityMatches(t *testing.T) {
	set := compileTexts(t, Options{}, fleetText, "domain: other\npolicies:\n"+
		"  - {id: reads, match: {priority: r*}, limits: 1/s, on_failure: open}\n"+
		"  - {id: each, by: priority, limits: 2/s, on_failure: open}\n")
	all, rest := []string{"fleet 100/s burst 10 x1"}, []string{"fleet 100/s burst 10 x1", "fleet-rest 80/s burst 8 x1"}
	for words, want := range map[string][]string{
		"priority=critical":              all,
		"priority=Critical method=GET":   all,
		"priority=write":                 rest,
		"priority=test":                  rest,
		"priority=urgent":                rest,
		"priority=":                      rest,
		"":                               rest,
		"method=POST path=/v1/charges":   rest,
		"method=GET path=/v1/charges":    rest,
		"route=GET+/v1/charges":          rest,
		"priority=critical+ method=POST": rest,
	} {
		var p Plan
		if err := set.Resolve(request(words), &p); err != nil {
			t.Fatal(err)
		}
		if got := charges(&p); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %q, want %q", words, got, want)
		}
	}
	for words, want := range map[string]string{
		"method=GET": "read", "route=HEAD+/x": "read", "method=PUT": "write", "": "write", "priority=TEST": "test",
	} {
		r := request(words)
		r.Domain = "other"
		e := Explain(set, r)
		if got := e.Descriptors[0].Applied; got[len(got)-1].Counter != "priority="+want || (len(got) == 2) != (want == "read") {
			t.Errorf("%q: %+v", words, got)
		}
	}
}

// TestPrioritiesByRoute: the request's own comes first, then the first route
// that matches, in whichever file, then the method.
func TestPrioritiesByRoute(t *testing.T) {
	set := compileTexts(t, Options{}, "policies:\n  - {id: each, by: priority, limits: 2/s, on_failure: open}\n"+
		"priorities:\n  critical: [POST /v1/charges, checkout]\n  test: /sandbox/*\n",
		"policies:\n  - {id: b, limits: 2/s, on_failure: open}\npriorities: {read: [/sandbox/x, /v1/search], write: {method: GET, path: /v1/lock}}\n")
	for words, want := range map[string]string{
		"method=POST path=/v1/charges":               "critical",
		"method=GET path=/v1/charges":                "read",
		"method=POST path=/v1/charges priority=test": "test",
		"method=POST path=/v1/charges priority=high": "critical",
		"route=POST+/v1/charges":                     "critical",
		"route=checkout":                             "critical",
		"method=POST path=/sandbox/x":                "test",
		"method=POST path=/v1/search?q=1":            "read",
		"method=GET path=/v1/lock":                   "write",
		"method=GET path=/other":                     "read",
	} {
		if got := Explain(set, request(words)).Descriptors[0].Applied[0].Counter; got != "priority="+want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
}

func TestAnswerIsExplained(t *testing.T) {
	set := compileTexts(t, Options{}, fleetText)
	e := Explain(set, request("tenant=a priority=critical"))
	d := e.Descriptors[0]
	if len(d.Applied) != 2 || d.Applied[0].Answer != "unavailable" || d.Applied[1].Answer != "" {
		t.Errorf("%+v", d.Applied)
	}
	text := e.Text()
	for _, want := range []string{
		"fleet (test.yaml:3:5): its own limits; a denial is answered with 503; counter one for all",
		`priority is "critical", not test or read or write`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if rules := set.Rules(); !rules[0].Sheds || !rules[1].Sheds || rules[2].Sheds {
		t.Errorf("sheds: %v %v %v", rules[0].Sheds, rules[1].Sheds, rules[2].Sheds)
	}
}

func TestLintSheds(t *testing.T) {
	got := lintText(t, "policies:\n"+
		"- {id: a, by: [region, tenant], limits: 5/s, answer: unavailable, on_failure: open}\n"+
		"- {id: b, limits: 500/m, answer: unavailable, on_failure: closed}\n"+
		"- {id: c, by: region, limits: 50/m, answer: unavailable, on_failure: local}\n"+
		"- {id: d, match: {prioriti: test}, limits: 50/m, on_failure: open}\n")
	var codes []string
	for _, p := range got {
		codes = append(codes, p.At.String()+" "+p.Code)
		if p.Hint == "" || !p.Warning {
			t.Errorf("%+v", p)
		}
	}
	want := []string{"test.yaml:2:3 fairness-as-503", "test.yaml:3:3 shed-closed", "test.yaml:5:19 likely-typo"}
	if !reflect.DeepEqual(codes, want) {
		t.Errorf("got %q, want %q", codes, want)
	}
}
