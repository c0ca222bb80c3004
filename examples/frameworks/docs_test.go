package frameworks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocumented: what docs/frameworks.md shows is what these files say, and it
// shows every function of them.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/frameworks.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	sources, wanted := "", 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "doc.go" {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources += string(b)
		wanted += strings.Count(string(b), "\nfunc ")
		if !strings.Contains(string(text), "(../examples/frameworks/"+name+")") {
			t.Errorf("the page does not link to %s", name)
		}
	}
	shown := 0
	for i, block := range strings.Split(string(text), "```go\n")[1:] {
		code, _, ok := strings.Cut(block, "```")
		if !ok {
			t.Fatalf("block %d has no end", i+1)
		}
		if !strings.Contains(sources, code) {
			t.Errorf("block %d is in no file:\n%s", i+1, code)
		}
		shown += strings.Count("\n"+code, "\nfunc ")
	}
	if shown != wanted {
		t.Errorf("%d functions are shown of %d", shown, wanted)
	}
	policies, err := os.ReadFile("policies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "```yaml\n"+string(policies)+"```") {
		t.Error("the page shows other policies than policies.yaml")
	}
}
