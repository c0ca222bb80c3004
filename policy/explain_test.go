package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
)

// TestExplain runs the scripts of testdata/native/explain: a policy file, then
// for each request a line of dimensions and what it is told.
//
//	<policy file>
//	=== tenant=acme
//	<explanation>
func TestExplain(t *testing.T) {
	paths, err := filepath.Glob("testdata/native/explain/*.txt")
	if err != nil || len(paths) < 2 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(string(data), "\n=== ")
		set := compileScript(t, parts[0]+"\n")
		out := parts[0]
		for _, part := range parts[1:] {
			words, want, _ := strings.Cut(part, "\n")
			r := request(words)
			if set.native[DefaultDomain] == nil {
				r = scriptRequest(words)
			}
			e := Explain(set, r)
			e.Version = "v"
			got := strings.TrimRight(e.Text(), "\n")
			if got != strings.TrimRight(want, "\n") && !*updateNative {
				t.Errorf("%s: %s\n got\n%s\nwant\n%s", path, words, got, want)
			}
			if _, err := json.Marshal(e); err != nil {
				t.Errorf("%s: %v", words, err)
			}
			out += "\n=== " + words + "\n" + got + "\n"
		}
		if *updateNative {
			if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// compileScript compiles a file of either format.
func compileScript(t *testing.T, text string) *Set {
	t.Helper()
	if strings.Contains(text, "\npolicies:") {
		return compileTexts(t, Options{}, text)
	}
	f, problems := ParseEnvoy("test.yaml", []byte(text))
	if f == nil {
		t.Fatal(problems)
	}
	set, _ := Compile([]*File{{Name: "test.yaml", Envoy: f}}, Options{})
	return set
}

// scriptRequest is request for descriptors: a word of / begins another one.
func scriptRequest(words string) *weir.Request {
	r := &weir.Request{Domain: "envoy"}
	for _, part := range strings.Split(words, " / ") {
		r.Descriptors = append(r.Descriptors, request(part).Descriptors...)
	}
	return r
}

func TestExplainUnknownDomain(t *testing.T) {
	set := compileTexts(t, Options{}, resolveText)
	r := request("tenant=x")
	r.Domain = "nowhere"
	if e := Explain(set, r); e.Format != "none" || len(e.Descriptors) != 0 || !strings.Contains(e.Text(), "the request passes") {
		t.Errorf("%+v", e)
	}
}

func TestExplainOverride(t *testing.T) {
	meter := weir.MustMeter(weir.Limit{Algorithm: weir.SlidingWindow, Count: 777, Window: weir.Second})
	set := compileTexts(t, Options{Overrides: fixedOverrides{meter}}, resolveText)
	e := ExplainAt(set, request("tenant=vip"), 100)
	if e.Charges[0].Limit != "777/s" || e.Charges[0].Meter != meter || e.Descriptors[0].Applied[0].Why != "limits of this counter's own" {
		t.Errorf("%+v", e)
	}
}

// TestExplainManyPolicies lists the nearest few of very many.
func TestExplainManyPolicies(t *testing.T) {
	set := compileTexts(t, Options{}, crowd(2000))
	e := Explain(set, request("tenant=t40x region=eu"))
	d := e.Descriptors[0]
	if len(d.Missed) != maxMissed || d.Others != 2003-1-maxMissed || d.Missed[0].Rule != "p40" {
		t.Errorf("%+v", d)
	}
}

// TestExplanationIsJSON keeps the names that scripts read.
func TestExplanationIsJSON(t *testing.T) {
	set := compileTexts(t, Options{}, "policies: [{id: a, by: tenant, limits: 5/s, deadline: 3ms, on_failure: local}]")
	e := Explain(set, request("tenant=x"))
	e.Version = "v"
	got, err := json.Marshal(e)
	want := `{"version":"v","domain":"default","format":"native","descriptors":[{"dimensions":[{"name":"tenant","value":"x"}],` +
		`"applied":[{"rule":"a","at":"test.yaml:1:12","why":"its own limits","counter":"tenant=x"}],"missed":[]}],` +
		`"charges":[{"rule":"a","descriptor":0,"key":"{x}7:default1:aws","limit":"5/s","cost":1,"mode":"enforce"}],` +
		`"on_failure":"local","deadline":"3ms"}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s\nwant %s\n%v", got, want, err)
	}
}
