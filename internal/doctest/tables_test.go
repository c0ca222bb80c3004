package doctest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRowsAreThereOnce: pages that many changes touch have no row of a table
// twice, as two merges of it leave it.
func TestRowsAreThereOnce(t *testing.T) {
	for _, page := range []string{"README.md", "docs/architecture.md", "docs/server.md", "docs/local-tier.md", "docs/degraded-modes.md", "docs/go.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range doubled(string(text)) {
			t.Errorf("%s has the row %q twice", page, row)
		}
	}
	if got := doubled("| a | b |\n|---|---|\n| x | 1 |\n| y | 2 |\n| x | 3 |\n\n| x | 4 |\n"); len(got) != 1 || got[0] != "x" {
		t.Errorf("doubled: %q", got)
	}
}

// doubled returns the first cells that two rows of one table have.
func doubled(text string) (cells []string) {
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			clear(seen)
			continue
		}
		cell, _, _ := strings.Cut(line[1:], "|")
		if cell = strings.TrimSpace(cell); cell != "" && seen[cell] {
			cells = append(cells, cell)
		}
		seen[cell] = true
	}
	return cells
}
