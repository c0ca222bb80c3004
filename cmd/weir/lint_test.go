package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirlimit/weir/policy"
)

// TestLintExamples: what the project shows is clean by its own rules.
func TestLintExamples(t *testing.T) {
	for _, path := range []string{"../../examples/policies", "sample.yaml"} {
		code, out, errs := weirRun(t, "lint", "--strict", path)
		if code != exitOK || !strings.HasSuffix(out, ": no problems\n") || errs != "" {
			t.Errorf("%s: exit code %d, %s%s", path, code, out, errs)
		}
	}
}

func TestFindings(t *testing.T) {
	at := policy.Position{File: "a.yaml", Line: 2, Column: 3}
	var f findings
	f.add([]policy.Problem{{At: at, Message: "is bad"}, {At: at, Message: "is odd", Warning: true}})
	f.add([]policy.Problem{{At: at, Message: "is bad"}, {At: at, Message: "is \x1b[2Jworse\n", Hint: "mend it"}})
	var text strings.Builder
	if err := f.text(&text); err != nil {
		t.Fatal(err)
	}
	want := `a.yaml:2:3: is bad
a.yaml:2:3: warning: is odd
a.yaml:2:3: is \x1b[2Jworse\n (mend it)
0 files: 2 errors, 1 warning
`
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
}

// TestLintCompat reads every file, and says what is wrong beside a bad one too.
func TestLintCompat(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.conf": "domain: api\n", "b.conf": "domain: api\n", "c.conf": "domain: ''\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, out, _ := weirRun(t, "lint", "--compat", "envoy", dir)
	if code != exitError || !strings.Contains(out, "duplicate domain 'api' in config file") ||
		!strings.Contains(out, "config file cannot have empty domain") || !strings.HasSuffix(out, "3 files: 2 errors\n") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
