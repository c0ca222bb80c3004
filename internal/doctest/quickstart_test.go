package doctest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/gatewaytest"
)

// weirBinary is the program that the pages start. TestMain builds it.
var weirBinary string

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "weir-doctest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if weirBinary, err = gatewaytest.BuildWeir(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// TestQuickStarts runs every docs/quickstart-*.md from top to bottom.
func TestQuickStarts(t *testing.T) {
	t.Parallel()
	root := gatewaytest.Root()
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
				Root: root, Binary: weirBinary,
				Skip: name == "envoy", // there is none to run
			})
		})
	}
	for _, name := range []string{"curl", "envoy", "nginx", "caddy", "haproxy"} {
		if !found[name] {
			t.Errorf("there is no docs/quickstart-%s.md", name)
		}
	}
}
