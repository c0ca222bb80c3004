package policy

import (
	"strings"
	"testing"

	"github.com/weirlimit/weir"
)

// compileAll compiles files named a, b, c, each of which is good by itself.
func compileAll(t *testing.T, texts ...string) (*Set, []Problem) {
	t.Helper()
	var files []*File
	for i, text := range texts {
		name := string(rune('a' + i))
		f, problems := ParseNative(name, []byte(text))
		if f == nil {
			t.Fatal(problems)
		}
		files = append(files, &File{Name: name, Native: f})
	}
	return Compile(files, Options{})
}

func TestFilesShareADomain(t *testing.T) {
	set, problems := compileAll(t,
		"domain: api\npolicies: [{id: x, by: tenant, limits: 5/s, plans: {pro: 6/s}}]\ntenants: {acme: pro}",
		"domain: api\npolicies: [{id: y, by: tenant, limits: 7/s, plans: {pro: 8/s}}]\ntenants: {acme: pro, b: pro}",
		"domain: web\npolicies: [{id: x, by: tenant, limits: 9/s}]",
	)
	if len(problems) > 0 || len(set.Rules()) != 3 {
		t.Fatal(problems)
	}
	for words, want := range map[string]string{
		"tenant=acme": "x 6/s x1, y 8/s x1",
		"tenant=b":    "x 6/s x1, y 8/s x1",
		"tenant=c":    "x 5/s x1, y 7/s x1",
	} {
		r := request(words)
		r.Domain = "api"
		var p Plan
		if err := set.Resolve(r, &p); err != nil || strings.Join(charges(&p), ", ") != want {
			t.Errorf("%s: %v %v", words, charges(&p), err)
		}
	}
}

// TestContradictingFileIsLeftOut keeps what stands and drops all of the file
// that does not fit beside it.
func TestContradictingFileIsLeftOut(t *testing.T) {
	for _, tc := range []struct{ second, code, text string }{
		{"policies: [{id: z, limits: 5/s}, {id: x, limits: 6/s}]", "duplicate-id", "a:1:12"},
		{"policies: [{id: z, limits: 5/s}]\ntenants: {acme: free}", "duplicate-tenant", "pro"},
	} {
		set, problems := compileAll(t,
			"policies: [{id: x, limits: 5/s}]\ntenants: {acme: pro}", tc.second, "policies: [{id: y, limits: 5/s}]")
		if len(problems) != 1 || problems[0].Code != tc.code || problems[0].At.File != "b" || problems[0].Warning ||
			!strings.Contains(problems[0].Message, tc.text) {
			t.Fatalf("%v", problems)
		}
		var ids []string
		for _, r := range set.Rules() {
			ids = append(ids, r.ID)
		}
		if strings.Join(ids, " ") != "x y" {
			t.Errorf("rules %v", ids)
		}
	}
}

func TestNativeRules(t *testing.T) {
	set, problems := compileAll(t, "policies:\n- {id: x, limits: [5/s, 2 concurrency m, 9/h], plans: {pro: 6/s, max: unlimited}, concurrency: {max: 3, timeout: 5s}, "+
		"on_failure: local, deadline: 2ms, mode: shadow}")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r := set.Rules()[0]
	if r.Fail != FailLocal || !r.FailSet || r.Mode != weir.Shadow || r.Deadline.String() != "2ms" || r.Domain != DefaultDomain ||
		r.Name != "x" || r.At.String() != "a:2:3" || len(r.Windows) != 4 || len(r.ByPlan["pro"]) != 2 || len(r.ByPlan["max"]) != 1 {
		t.Errorf("%+v", r)
	}
	if last := r.Windows[3].Limit.String(); last != "3 concurrency 5s" {
		t.Errorf("requests in progress come last, not %s", last)
	}
	if a, b := compileVersion(t, "policies: [{id: x, limits: 5/s}]"), compileVersion(t, "policies: [{id: x, limits: 6/s}]"); a == b || a == "" {
		t.Errorf("versions %q and %q", a, b)
	}
}

func compileVersion(t *testing.T, text string) string {
	set, _ := compileAll(t, text)
	return set.Version()
}

// TestMetersAreShared keeps 100,000 policies of one limit small.
func TestMetersAreShared(t *testing.T) {
	set, _ := compileAll(t, "policies: [{id: x, limits: 5/s}, {id: y, limits: 5/s}]")
	if r := set.Rules(); r[0].Windows[0] != r[1].Windows[0] {
		t.Error("two meters of one limit")
	}
}
