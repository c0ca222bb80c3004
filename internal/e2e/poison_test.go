package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPoison drops one bad file after the other beside the policies that serve.
// Each is named with its line and what is wrong, and nobody who asks notices.
func TestPoison(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testPoison)
}

func testPoison(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "good.yaml"), "domain: good\npolicies:\n  - {id: good, by: [tenant], limits: [7777/h], on_failure: open}\n")
	w := serve(t, "--config", dir)
	before := w.config()
	poisons := append(poisonFiles(t), poisonTexts()...)
	if len(poisons) < 50 {
		t.Fatalf("%d poisoned files are too few", len(poisons))
	}
	for i, p := range poisons {
		path := filepath.Join(dir, fmt.Sprintf("poison-%d.yaml", i))
		write(t, path, p.text)
		w.awaitPoisoned(path, p)
		w.askGood()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "the last one to be forgotten", func() error {
		if c := w.config(); len(c.Problems) > 0 || len(c.Files) != 1 {
			return fmt.Errorf("%+v", c)
		}
		return nil
	})
	if after := w.config(); after.Version != before.Version || after.Serial != before.Serial {
		t.Errorf("set %d %s became %d %s", before.Serial, before.Version, after.Serial, after.Version)
	}
	t.Logf("%d poisoned files", len(poisons))
}

// awaitPoisoned waits until a file is reported, and checks what is said of it.
func (w *instance) awaitPoisoned(path string, p poison) {
	w.t.Helper()
	await(w.t, "the report of "+p.name, func() error {
		c := w.config()
		for _, problem := range c.Problems {
			if problem.File != path || problem.Severity != "error" {
				continue
			}
			if problem.Message == "" || p.lines && problem.Line == 0 {
				w.t.Errorf("%s: %+v says not where or what", p.name, problem)
			}
			return nil
		}
		if len(c.Files) == 2 && c.Files[1].Name == path && c.Files[1].State == "current" {
			w.t.Errorf("%s was taken: %+v", p.name, c)
			return nil
		}
		return fmt.Errorf("%+v", c.Problems)
	})
	if status, body, err := w.get("/readyz"); err != nil || status != http.StatusOK {
		w.t.Errorf("%s: readiness is %d %s, %v", p.name, status, body, err)
	}
}

// askGood asks for what the good file says.
func (w *instance) askGood() {
	w.t.Helper()
	resp, err := plain.Post("http://"+w.http+"/v1/check", "application/json",
		strings.NewReader(`{"domain": "good", "dimensions": {"tenant": "acme"}}`))
	if err != nil {
		w.t.Fatal(err)
	}
	resp, body := withBody(w.t, resp)
	if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `"limit":"7777/h"`) {
		w.t.Fatalf("%s: %s", resp.Status, body)
	}
}

// poison is a file that must not be taken.
type poison struct {
	name, text string
	lines      bool // it has a place at fault
}

// poisonFiles are those that the parsers' own tests have.
func poisonFiles(t *testing.T) []poison {
	t.Helper()
	var all []poison
	for _, format := range []string{"native", "envoy"} {
		names, err := filepath.Glob("../../policy/testdata/" + format + "/bad/*.yaml")
		if err != nil || len(names) == 0 {
			t.Fatalf("no bad files of %s: %v", format, err)
		}
		for _, name := range names {
			switch filepath.Base(name) {
			case "envoy-format.yaml", "no-policies.yaml":
				continue // bad for one parser, and a file of the other's
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, poison{format + " " + filepath.Base(name), string(text), true})
		}
	}
	return all
}

// poisonTexts are worse than what somebody mistypes.
func poisonTexts() []poison {
	policy := func(fields string) string { return "policies:\n  - {id: p, on_failure: open, " + fields + "}\n" }
	descriptor := func(limit string) string {
		return "domain: d\ndescriptors:\n  - key: k\n    rate_limit: " + limit + "\n"
	}
	return []poison{
		{"not YAML", "policies: [\n", true},
		{"a tab for indentation", "policies:\n\t- id: p\n", true},
		{"bytes that are no text", "policies:\n  - id: \xff\xfe\n", true},
		{"zero bytes", "policies:\n\x00\x00\x00", true},
		{"a program", "\x7fELF\x02\x01\x01\x00\x00", true},
		{"10 MB of list", "policies:\n" + strings.Repeat("  - x\n", 10<<20/6), true},
		{"10 MB of text", "policies:\n  - id: " + strings.Repeat("x", 10<<20) + "\n    limits: 1/s\n", true},
		{"17 MB", "policies:\n" + strings.Repeat("# nothing\n", 17<<20/10), false},
		{"100,000 lists in each other", "policies: " + strings.Repeat("[", 100_000), true},
		{"100,000 mappings in each other", "policies: " + strings.Repeat("{a: ", 100_000), true},
		{"descriptors in each other", deepDescriptors(2000), true},
		{"aliases that grow", "a: &a [x, x, x, x, x, x, x, x, x]\n" + laughs() + "policies: *h\n", true},
		{"an alias of itself", "policies: &a [*a]\n", true},
		{"a key twice", "policies: []\npolicies: []\n", true},
		{"a field twice", "policies:\n  - id: p\n    id: q\n    limits: 1/s\n    on_failure: open\n", true},
		{"an id twice", "policies:\n  - {id: p, limits: 1/s, on_failure: open}\n  - {id: p, limits: 1/s, on_failure: open}\n", true},
		{"a rate of zero", policy("limits: 0/s"), true},
		{"a negative rate", policy("limits: -1/s"), true},
		{"a rate beyond all", policy("limits: 99999999999999999999/s"), true},
		{"limits that are a mapping", policy("limits: {a: b}"), true},
		{"by that is a number", policy("limits: 1/s, by: 7"), true},
		{"an unknown field", policy("limits: 1/s, limit: 2/s"), true},
		{"policies that are a text", "policies: all of them\n", true},
		{"both formats in one file", "domain: d\npolicies: []\ndescriptors: []\n", true},
		{"requests_per_unit below zero", descriptor("{unit: second, requests_per_unit: -1}"), true},
		{"requests_per_unit beyond 32 bits", descriptor("{unit: second, requests_per_unit: 4294967296}"), true},
		{"requests_per_unit that is a text", descriptor("{unit: second, requests_per_unit: many}"), true},
		{"a unit that is a number", descriptor("{unit: 7, requests_per_unit: 1}"), true},
		{"a domain that is served already", "domain: good\npolicies:\n  - {id: good, limits: 1/s, on_failure: open}\n", true},
	}
}

func deepDescriptors(n int) string {
	var b strings.Builder
	b.WriteString("domain: d\n")
	for i := range n {
		fmt.Fprintf(&b, "%[1]sdescriptors:\n%[1]s- key: k\n", strings.Repeat(" ", i))
	}
	return b.String()
}

// laughs is each a list of nine of the one before.
func laughs() string {
	var b strings.Builder
	for c := 'b'; c <= 'h'; c++ {
		fmt.Fprintf(&b, "%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+string(c-1)+", ", 9), ", "))
	}
	return b.String()
}
