package doctest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/gatewaytest"
)

// TestQuickStarts runs every docs/quickstart-*.md from top to bottom.
func TestQuickStarts(t *testing.T) {
	t.Parallel()
	root := gatewaytest.Root()
	binary, err := gatewaytest.BuildWeir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "quickstart-*.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, page := range pages {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(page), "quickstart-"), ".md")
		found[name] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Run(t, filepath.Join("docs", filepath.Base(page)), Options{
				Root: root, Binary: binary,
				Skip: name == "envoy", // there is none to run
			})
		})
	}
	for _, name := range []string{"curl", "envoy", "nginx", "caddy", "haproxy", "go"} {
		if !found[name] {
			t.Errorf("there is no docs/quickstart-%s.md", name)
		}
	}
}
