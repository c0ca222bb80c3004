package identityfile_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/internal/identityfile"
)

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/identity.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocumentedFiles: the files of the page are read.
func TestDocumentedFiles(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(page(t), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d files", len(blocks))
	}
	if _, err := identityfile.Parse("docs", []byte(blocks[0][1])); err != nil {
		t.Error(err)
	}
	if _, err := identityfile.ParseKeys("docs", []byte(blocks[1][1])); err != nil {
		t.Error(err)
	}
}

// TestDocumentedKeys: the tables of the page have the keys that the reader
// knows, which it lists when it meets another.
func TestDocumentedKeys(t *testing.T) {
	text := page(t)
	for _, section := range []string{"client_ip", "jwt", "api_keys", "auth"} {
		_, err := identityfile.Parse("f", []byte(section+": {nosuch: 1}"))
		_, list, ok := strings.Cut(err.Error(), "one of ")
		if !ok {
			t.Fatal(err)
		}
		known := strings.Split(strings.TrimSuffix(list, ")"), ", ")
		_, table, ok := strings.Cut(text, "\n| `"+section+"` | what | default |\n")
		if !ok {
			t.Errorf("no table of %s", section)
			continue
		}
		table, _, _ = strings.Cut(table, "\n\n")
		var documented []string
		for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\|").FindAllStringSubmatch(table, -1) {
			documented = append(documented, m[1])
		}
		slices.Sort(known)
		slices.Sort(documented)
		if !slices.Equal(known, documented) {
			t.Errorf("%s has %v, documented are %v", section, known, documented)
		}
	}
	for r := identity.None + 1; r < identity.Reasons; r++ {
		if !strings.Contains(text, "`"+r.String()+"`") {
			t.Errorf("the reason %s is not documented", r)
		}
	}
	for w := range identity.Whats {
		if !strings.Contains(text, "`"+w.String()+"`") {
			t.Errorf("%s is not documented", w)
		}
	}
}
