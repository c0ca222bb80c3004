package grpclimit_test

import (
	"os"
	"strings"
	"testing"
)

// TestDocs: the Go of docs/grpc.md is code of the examples, which are run, and
// its table names every option there is.
func TestDocs(t *testing.T) {
	page := text(t, "../docs/grpc.md")
	code := flat(text(t, "example_test.go")) + flat(text(t, "../client/example_test.go"))
	blocks := strings.Split(page, "```go\n")[1:]
	for _, b := range blocks {
		b, _, _ = strings.Cut(b, "```")
		if !strings.Contains(code, flat(b)) {
			t.Errorf("docs/grpc.md has what no example has:\n%s", b)
		}
	}
	if len(blocks) < 5 {
		t.Errorf("%d blocks of Go were found", len(blocks))
	}
	for _, line := range strings.Split(text(t, "option.go"), "\n") {
		if name, ok := strings.CutPrefix(line, "func With"); ok {
			if name, _, _ = strings.Cut(name, "("); !strings.Contains(page, "`With"+name+"`") {
				t.Errorf("docs/grpc.md does not name With%s", name)
			}
		}
	}
}

func text(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// flat is text without indentation and empty lines.
func flat(text string) string {
	var b strings.Builder
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
