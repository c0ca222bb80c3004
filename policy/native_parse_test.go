package policy

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

const examples = "../examples/policies"

// parseNative parses text that is to be good.
func parseNative(t testing.TB, text string) *NativeFile {
	t.Helper()
	f, problems := ParseNative("test.yaml", []byte(text))
	if f == nil || len(problems) > 0 {
		t.Fatalf("problems in\n%s\n%v", text, problems)
	}
	return f
}

// compileTexts compiles native files that are to be good.
func compileTexts(t testing.TB, o Options, texts ...string) *Set {
	t.Helper()
	var files []*File
	for _, text := range texts {
		files = append(files, &File{Name: "test.yaml", Native: parseNative(t, text)})
	}
	s, problems := Compile(files, o)
	if s == nil || len(problems) > 0 {
		t.Fatalf("problems in\n%v\n%v", texts, problems)
	}
	return s
}

func TestParseNative(t *testing.T) {
	f := parseNative(t, `
domain: api
tenants: {acme: pro, 42: free}
policies:
  - id: a.b/c-d_1
    match:
      region: [eu-*, us]
      tier: 7
      route: [POST /v1/orders/*, {method: [get, HEAD], path: [/a, /b]}, checkout, "GET|PUT /x"]
    by: [user, tenant]
    limits:
      - 100/s burst 200
      - {count: 3000, window: m}
      - {count: 5, window: 30s, algorithm: fixed_window}
      - {count: 5, window: 30s, burst: 2}
    plans:
      free: 1/s
      enterprise: unlimited
    concurrency: {max: 4, timeout: 30s}
    cost: {POST /v1/exports: 10, "*": 0}
    on_failure: closed
    mode: shadow
    deadline: 5ms
    require: true
  - id: all
    limits: 5/s
    concurrency: 3
    cost: 7
`)
	if f.Domain != "api" || len(f.Policies) != 2 || len(f.Tenants) != 2 || f.Tenants[1].Tenant != "42" || f.Tenants[0].Plan != "pro" {
		t.Fatalf("file %+v", f)
	}
	p := f.Policies[0]
	if p.ID != "a.b/c-d_1" || p.At != (Position{"test.yaml", 5, 5}) || p.Partition != "tenant" || !p.Require ||
		p.Fail != FailClosed || !p.FailSet || p.Mode != weir.Shadow || p.Deadline != 5*time.Millisecond {
		t.Errorf("policy %+v", p)
	}
	if !reflect.DeepEqual(p.By, []string{"user", "tenant"}) {
		t.Errorf("by %v", p.By)
	}
	if len(p.Match) != 2 || !reflect.DeepEqual(p.Match[0].Patterns, []string{"eu-*", "us"}) || !reflect.DeepEqual(p.Match[1].Patterns, []string{"7"}) {
		t.Errorf("match %+v", p.Match)
	}
	var routes []string
	for i := range p.Routes {
		routes = append(routes, p.Routes[i].String())
	}
	if want := []string{"POST /v1/orders/*", "GET|HEAD /a", "GET|HEAD /b", "checkout", "GET|PUT /x"}; !reflect.DeepEqual(routes, want) {
		t.Errorf("routes %q, want %q", routes, want)
	}
	var limits []string
	for _, l := range append(p.Limits, p.Concurrency...) {
		limits = append(limits, l.Limit.String())
	}
	if want := []string{"100/s burst 200", "3000/m", "5/30s fixed_window", "5/30s burst 2", "4 concurrency 30s"}; !reflect.DeepEqual(limits, want) {
		t.Errorf("limits %q, want %q", limits, want)
	}
	if len(p.Plans) != 2 || p.Plans[0].Plan != "free" || p.Plans[1].Plan != "enterprise" || len(p.Plans[1].Limits) != 0 {
		t.Errorf("plans %+v", p.Plans)
	}
	if len(p.Cost) != 2 || p.Cost[0].label() != "POST /v1/exports" || p.Cost[0].Cost != 10 || !p.Cost[1].Any || p.Cost[1].Cost != 0 {
		t.Errorf("cost %+v", p.Cost)
	}
	all := f.Policies[1]
	if all.Partition != "" || all.By != nil || all.FailSet || all.Mode != weir.Enforce || all.Cost[0].Cost != 7 ||
		all.Concurrency[0].Limit.Window != weir.Minute {
		t.Errorf("policy %+v", all)
	}
}

func TestParseNativeDefaults(t *testing.T) {
	f := parseNative(t, "policies:\n- {id: a, by: [ip, user], limits: 5/s}\n- {id: b, by: [ip, user], partition: user, limits: 5/s}\n")
	if f.Domain != DefaultDomain || f.Policies[0].Partition != "ip" || f.Policies[1].Partition != "user" {
		t.Errorf("%+v", f)
	}
}

func TestParseNativeTakesAliases(t *testing.T) {
	f := parseNative(t, "policies:\n- {id: a, limits: &l [5/s, 100/h]}\n- {id: b, limits: *l}\n")
	if !reflect.DeepEqual(f.Policies[0].Limits, f.Policies[1].Limits) || len(f.Policies[1].Limits) != 2 {
		t.Errorf("%+v", f.Policies)
	}
}

func TestExamplesParseAndCompile(t *testing.T) {
	for _, name := range []string{"quickstart", "plans", "hierarchy", "login", "concurrency"} {
		path := filepath.Join(examples, name+".yaml")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, problems := ParseNative(path, data)
		if f == nil || len(problems) > 0 {
			t.Errorf("%s: %v", path, problems)
			continue
		}
		file := &File{Name: path, Native: f}
		set, problems := Compile([]*File{file}, Options{})
		if len(problems) > 0 || len(set.Rules()) != len(f.Policies) {
			t.Errorf("%s: %v", path, problems)
		}
		if problems := Lint([]*File{file}); len(problems) > 0 {
			t.Errorf("%s: an example is not to be warned of: %v", path, problems)
		}
	}
}
