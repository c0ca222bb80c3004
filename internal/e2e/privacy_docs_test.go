package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/policy"
)

const privacyDoc = "../../docs/privacy.md"

func privacyPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(privacyDoc)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocumentedPrivateNames: the page lists the names that are private.
func TestDocumentedPrivateNames(t *testing.T) {
	t.Parallel()
	_, sentence, ok := strings.Cut(privacyPage(t), "are *private*:")
	sentence, _, end := strings.Cut(sentence, "or the names that `--private` lists")
	if !ok || !end {
		t.Fatalf("%s does not say what is private", privacyDoc)
	}
	var names []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(sentence, -1) {
		names = append(names, m[1])
	}
	if want := policy.DefaultPrivate(); !slices.Equal(names, want) {
		t.Errorf("documented as private are %v, and %v are", names, want)
	}
}

// TestDocumentedControls: the table names every control that it is for.
func TestDocumentedControls(t *testing.T) {
	t.Parallel()
	_, section, ok := strings.Cut(privacyPage(t), "\n## Controls\n")
	if !ok {
		t.Fatalf("%s has no table of controls", privacyDoc)
	}
	var serves []string
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) == 5 {
			for control := range strings.FieldsFuncSeq(cells[2], func(c rune) bool { return strings.ContainsRune(" ,;", c) }) {
				serves = append(serves, control)
			}
		}
	}
	for _, want := range []string{"CC6", "CC7", "CC8", "AC-4", "SC-8", "AU-2"} {
		if !slices.ContainsFunc(serves, func(s string) bool { return s == want || strings.HasPrefix(s, want+".") }) {
			t.Errorf("no row serves %s: %v", want, serves)
		}
	}
}

// TestDocumentedSalts does what the page tells an operator, in its order.
func TestDocumentedSalts(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "policies"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "policies", "a.yaml"), "policies:\n  - {id: p, by: [ip], limits: [9/h], on_failure: closed}\n")
	ran := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\$ weir (.+)$`).FindAllStringSubmatch(privacyPage(t), -1) {
		args := strings.Fields(m[1])
		ran[args[0]]++
		if args[0] == "serve" {
			w := newInstance(t)
			for _, arg := range args[1:] {
				if file := filepath.Join(dir, arg); exists(file) {
					arg = file
				}
				w.args = append(w.args, strings.ReplaceAll(arg, "127.0.0.1:6379", redis.Addr()))
			}
			w.start()
			w.awaitReady()
			w.stop()
			continue
		}
		cmd := exec.Command(binary, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("weir %s: %v\n%s", m[1], err, out)
		}
	}
	if ran["salt"] != 3 || ran["serve"] != 2 {
		t.Errorf("ran %v, want new, rotate and list of salt, and serve twice", ran)
	}
	if list := runWeir(t, "salt", "list", filepath.Join(dir, "salts.yaml")); !strings.Contains(list, "in force") || !strings.Contains(list, "next") {
		t.Errorf("after the page, the salts are:\n%s", list)
	}
}
