package policy

import (
	"strings"
	"testing"
)

// envoyFile parses text, which has no errors.
func envoyFile(t testing.TB, name, text string) *File {
	t.Helper()
	f, problems := ParseEnvoy(name, []byte(text))
	if HasErrors(problems) {
		t.Fatalf("%v", problems)
	}
	return &File{Name: name, Envoy: f}
}

const (
	fileOne   = "domain: d\ndescriptors:\n- {key: one, value: 'x*', rate_limit: {unit: day, requests_per_unit: 1}}\n"
	fileTwo   = "domain: d\ndescriptors:\n- {key: one, value: '*y', rate_limit: {unit: day, requests_per_unit: 2}}\n"
	fileAgain = "domain: d\ndescriptors:\n- {key: two}\n- {key: one, value: '*y'}\n"
	fileOther = "domain: e\ndescriptors:\n- {key: one, rate_limit: {unit: day, requests_per_unit: 3}}\n"
)

// TestCompileDuplicateDomain: the second file of a domain is left out and the
// others apply; with EnvoyCompat nothing does.
func TestCompileDuplicateDomain(t *testing.T) {
	files := []*File{envoyFile(t, "1.yaml", fileOne), envoyFile(t, "2.yaml", fileTwo), envoyFile(t, "3.yaml", fileOther), {Name: "bad.yaml"}}
	const want = "2.yaml:1:9: duplicate domain 'd' in config file (it is also in 1.yaml; join the two, or give --merge-domains or MERGE_DOMAIN_CONFIG=true)"

	s, problems := Compile(files, Options{})
	if len(problems) != 1 || problems[0].String() != want {
		t.Errorf("problems %v, want %s", problems, want)
	}
	if got := tell(resolved(t, s, envoyAsk("one=x", "one=y"))); got != "one_x* enforce:1:1/d | -" {
		t.Errorf("the first file gives %s", got)
	}
	r := envoyAsk("one=1")
	r.Domain = "e"
	if got := tell(resolved(t, s, r)); got != "one enforce:1:3/d" {
		t.Errorf("the other domain gives %s", got)
	}

	s, problems = Compile(files, Options{EnvoyCompat: true})
	if s != nil || len(problems) != 1 || problems[0].String() != want {
		t.Errorf("compat: set %v and %v, want none and %s", s != nil, problems, want)
	}
}

// TestCompileMergedDomain: files of one domain are as one, in their order.
func TestCompileMergedDomain(t *testing.T) {
	one, two, again := envoyFile(t, "1.yaml", fileOne), envoyFile(t, "2.yaml", fileTwo), envoyFile(t, "3.yaml", fileAgain)
	merge := Options{MergeDomains: true}

	s, problems := Compile([]*File{one, two}, merge)
	if len(problems) != 0 {
		t.Fatalf("problems: %v", problems)
	}
	if got := tell(resolved(t, s, envoyAsk("one=xy", "one=y"))); got != "one_x* enforce:1:1/d | one_*y enforce:1:2/d" {
		t.Errorf("merged: %s", got)
	}
	s, _ = Compile([]*File{two, one}, merge)
	if got := tell(resolved(t, s, envoyAsk("one=xy"))); got != "one_*y enforce:1:2/d" {
		t.Errorf("merged in the other order: %s", got)
	}

	s, problems = Compile([]*File{two, again, one}, merge)
	const want = "3.yaml:4:3: duplicate descriptor composite key 'd.one_*y' (the first is at 2.yaml:3:3)"
	if len(problems) != 1 || problems[0].String() != want {
		t.Errorf("problems %v, want %s", problems, want)
	}
	if got := tell(resolved(t, s, envoyAsk("one=y", "one=x", "two=1"))); got != "one_*y enforce:1:2/d | one_x* enforce:1:1/d | -" {
		t.Errorf("without the file that repeats: %s", got)
	}
}

// TestCompileVersion: the version names the contents, their order and the
// options, and nothing else.
func TestCompileVersion(t *testing.T) {
	version := func(o Options, texts ...string) string {
		var files []*File
		for i, text := range texts {
			files = append(files, envoyFile(t, strings.Repeat("f", i+1), text))
		}
		s, _ := Compile(files, o)
		return s.Version()
	}
	base := version(Options{}, fileOne, fileOther)
	if again := version(Options{}, fileOne, fileOther); again != base || len(base) != 2*versionBytes {
		t.Errorf("versions %q and %q of the same files", base, again)
	}
	seen := map[string]bool{base: true}
	for _, other := range []string{
		version(Options{}, fileOther, fileOne),
		version(Options{}, fileOne),
		version(Options{}, fileOne, fileOther+"# more\n"),
		version(Options{EnvoyCompat: true}, fileOne, fileOther),
		version(Options{MergeDomains: true}, fileOne, fileOther),
		version(Options{}),
	} {
		if seen[other] {
			t.Errorf("version %s names two sets", other)
		}
		seen[other] = true
	}
}

// TestCompileRules: rules are numbered, unique, and know where they stand.
func TestCompileRules(t *testing.T) {
	s := envoySet(t, Options{}, tree, fileOther)
	ids := map[string]bool{}
	for i, r := range s.Rules() {
		id := r.Domain + "/" + r.ID
		if int(r.Index) != i || ids[id] || r.Name != r.ID {
			t.Errorf("rule %d is %+v", i, r)
		}
		ids[id] = true
		if r.ID != overrideID && (r.At.File == "" || r.At.Line == 0 || r.At.Column == 0) {
			t.Errorf("rule %s is nowhere: %v", id, r.At)
		}
	}
	for _, id := range []string{"d/exact_a", "d/outer_x.inner_y*", "d/%override", "e/one", "e/%override"} {
		if !ids[id] {
			t.Errorf("there is no rule %s", id)
		}
	}
	if len(s.meters()) != 14 {
		t.Errorf("%d meters, want 14: one per limit", len(s.meters()))
	}
}

// meters are the distinct meters of a set.
func (s *Set) meters() map[any]bool {
	all := map[any]bool{}
	for _, r := range s.Rules() {
		for _, m := range r.Windows {
			all[m] = true
		}
	}
	return all
}

func TestCompileBothFormats(t *testing.T) {
	native, problems := ParseNative("n.yaml", []byte("domain: d\npolicies:\n- id: p\n  by: [tenant]\n  limits: [10/s]\n  on_failure: open\n"))
	if HasErrors(problems) {
		t.Fatalf("native: %v", problems)
	}
	s, problems := Compile([]*File{envoyFile(t, "e.yaml", fileOne), {Name: "n.yaml", Native: native}}, Options{})
	if len(problems) != 1 || !problems[0].Warning || problems[0].At.String() != "e.yaml:1:9" {
		t.Errorf("problems %v, want a warning at e.yaml:1:9", problems)
	}
	if len(s.Rules()) != 3 {
		t.Errorf("%d rules, want 3", len(s.Rules()))
	}
}
