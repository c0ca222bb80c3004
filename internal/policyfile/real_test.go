package policyfile

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/policy"
)

// realBench has package policy in place of the stand-in.
func realBench(t *testing.T, change ...func(*Options)) *bench {
	t.Helper()
	return newBench(t, append(change, func(o *Options) { o.Parse, o.Compile = nil, nil })...)
}

const (
	envoyFile = `
domain: edge
descriptors:
  - key: path
    rate_limit: {unit: second, requests_per_unit: %d}
`
	nativeFile = `
domain: api
policies:
  - id: tenant
    by: [tenant]
    limits: %d/s burst 200
    on_failure: open
`
)

// limits returns what a request of each kind is charged: the counts of the
// Envoy rule and of the native policy, 0 when none applies.
func limits(b *bench, set *policy.Set) [2]int64 {
	b.Helper()
	var out [2]int64
	var plan policy.Plan
	for i, r := range []*weir.Request{
		{Domain: "edge", Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "path", Value: "/"}}}}},
		{Domain: "api", Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "acme"}}}}},
	} {
		b.must(set.Resolve(r, &plan))
		if len(plan.Charges) > 0 {
			out[i] = plan.Charges[0].Meter.Limit.Count
		}
	}
	return out
}

func (b *bench) loadReal(want [2]int64) Report {
	b.Helper()
	set, r, err := b.l.Load(b.Context())
	b.must(err)
	if got := limits(b, set); got != want {
		b.Fatalf("the limits are %v, want %v; problems:\n%s", got, want, problems(&r))
	}
	if r.Version == "" || r.Version != set.Version() {
		b.Errorf("version is %q, the set's is %q", r.Version, set.Version())
	}
	return r
}

func TestBothFormats(t *testing.T) {
	b := realBench(t, inCache)
	b.write("p/envoy.yaml", fmt.Sprintf(envoyFile, 5))
	b.write("p/native.yaml", fmt.Sprintf(nativeFile, 100))
	first := b.loadReal([2]int64{5, 100})
	if !first.OK() {
		t.Fatalf("problems:\n%s", problems(&first))
	}

	b.write("p/envoy.yaml", strings.Replace(fmt.Sprintf(envoyFile, 6), "second", "fortnight", 1))
	b.write("p/native.yaml", fmt.Sprintf(nativeFile, 101))
	second := b.loadReal([2]int64{5, 101})
	b.expect("files", state(&second), "envoy.yaml:stale native.yaml:current")
	if p := second.Files[0].Problems[0]; p.At.Line != 5 || p.At.Column == 0 || !strings.Contains(p.Message, "invalid rate limit unit 'fortnight'") {
		t.Errorf("problem is %v", p)
	}
	if second.Version == first.Version {
		t.Error("other limits have the same version")
	}

	b.restart()
	third := b.loadReal([2]int64{5, 101})
	b.expect("files", state(&third), "envoy.yaml:stale:cached native.yaml:current")
	if third.Version != second.Version {
		t.Errorf("the same contents have versions %s and %s", second.Version, third.Version)
	}
}

// TestRealContradiction: the compiler blames the later file, as the loader
// takes for granted.
func TestRealContradiction(t *testing.T) {
	for _, tc := range []struct{ name, format string }{{"envoy", envoyFile}, {"native", nativeFile}} {
		t.Run(tc.name, func(t *testing.T) {
			b := realBench(t)
			other := strings.NewReplacer("edge", "other", "api", "other").Replace(tc.format)
			b.write("p/a.yaml", fmt.Sprintf(other, 7))
			b.write("p/b.yaml", fmt.Sprintf(tc.format, 5))
			_, r, err := b.l.Load(t.Context())
			b.must(err)
			b.expect("files", state(&r), "a.yaml:current b.yaml:current")
			version := r.Version

			b.write("p/a.yaml", fmt.Sprintf(tc.format, 7)) // now both have the domain, or the policy
			_, r, err = b.l.Load(t.Context())
			b.must(err)
			b.expect("files", state(&r), "a.yaml:stale b.yaml:current")
			if ps := r.Files[0].Problems; len(ps) == 0 || ps[0].At.Line == 0 || r.Version != version {
				t.Errorf("problems %v, version %s, before it %s", ps, r.Version, version)
			}
		})
	}
}

// TestRealCompat: one bad file rejects the load, in the peer's words.
func TestRealCompat(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "config file cannot have empty domain",
		"descriptors: []":              "config file cannot have empty domain",
		"domain: edge":                 "duplicate domain 'edge' in config file",
		"domain: x\nfoo: bar":          "config error, unknown key 'foo'",
		"domain: x\ndescriptors: [{}]": "descriptor has empty key",
	} {
		b := realBench(t, compat)
		b.write("p/edge", fmt.Sprintf(envoyFile, 5))
		b.loadReal([2]int64{5, 0})
		b.write("p/edge", fmt.Sprintf(envoyFile, 6))
		b.write("p/z", text)
		r := b.loadReal([2]int64{5, 0})
		b.expect("files", state(&r), "edge:stale z:left_out rejected")
		if !strings.Contains(fmt.Sprint(r.All()), want) {
			t.Errorf("%q: problems are %v, want %q", text, r.All(), want)
		}
	}
}

// TestCompilerIsTold what the options say.
func TestCompilerIsTold(t *testing.T) {
	for name, tc := range map[string]struct {
		options Options
		state   string
		modes   string // of all that is written; Q is quota_mode
	}{
		"nothing": {Options{}, "a.yaml:current b.yaml:left_out", "enforce"},
		"merge":   {Options{MergeDomains: true}, "a.yaml:current b.yaml:current", "enforce enforce"},
		"shadow":  {Options{MergeDomains: true, Shadow: true}, "a.yaml:current b.yaml:current", "shadow shadow"},
		"quota":   {Options{Quota: true}, "a.yaml:current b.yaml:left_out", "enforceQ"},
		"compat":  {Options{Compat: true}, "a.yaml:left_out b.yaml:left_out rejected", ""},
	} {
		b := realBench(t)
		b.write("p/a.yaml", "domain: x\ndescriptors: [{key: a, rate_limit: {unit: day, requests_per_unit: 1}}]")
		b.write("p/b.yaml", "domain: x\ndescriptors: [{key: b, rate_limit: {unit: day, requests_per_unit: 1}}]")
		tc.options.Paths = b.opts.Paths
		b.opts = tc.options
		b.restart()
		set, r, _ := b.l.Load(t.Context()) // an error says what the state says
		b.expect(name, state(&r), tc.state)
		var modes []string
		if set != nil {
			for _, rule := range set.Rules() {
				if rule.At.Line > 0 { // not one for limits that requests bring
					modes = append(modes, rule.Mode.String()+map[bool]string{true: "Q"}[rule.Quota])
				}
			}
		}
		b.expect(name+": modes", strings.Join(modes, " "), tc.modes)
	}
}

// TestExamples: the policies that people copy are good, and stand together.
func TestExamples(t *testing.T) {
	l, err := New(Options{Paths: []string{filepath.Join("..", "..", "examples", "policies")}})
	if err != nil {
		t.Fatal(err)
	}
	_, r, err := l.Load(t.Context())
	if err != nil || len(r.Files) == 0 {
		t.Fatalf("%d files, error %v", len(r.Files), err)
	}
	for _, f := range r.Files {
		if f.State != Current {
			t.Errorf("%s is %s: %v", f.Name, f.State, f.Problems)
		}
	}
}
