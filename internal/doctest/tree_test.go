package doctest

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/gatewaytest"
)

// pagesOf returns the pages that people read, by their paths in the repository.
func pagesOf(t *testing.T, root string) map[string]string {
	t.Helper()
	pages := map[string]string{}
	read := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		pages[filepath.ToSlash(rel)] = string(text)
	}
	read(filepath.Join(root, "README.md"))
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") {
			read(path)
		}
		return err
	})
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	return pages
}

// prose returns the lines of a page that are no code, with their numbers.
func prose(text string) map[int]string {
	lines, fenced := map[int]string{}, false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced {
			lines[i+1] = line
		}
	}
	return lines
}

var (
	heading  = regexp.MustCompile(`^#{1,6} +(.*)$`)
	linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	target   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code     = regexp.MustCompile("`[^`]*`")
)

// anchors returns the anchors of a page, as GitHub makes them of headings.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	lines := prose(text)
	for _, i := range slices.Sorted(maps.Keys(lines)) {
		if m := heading.FindStringSubmatch(lines[i]); m != nil {
			addAnchor(found, m[1])
		}
	}
	return found
}

func addAnchor(found map[string]bool, heading string) {
	var b strings.Builder
	for _, c := range strings.ToLower(linkText.ReplaceAllString(heading, "$1")) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteRune(c)
		case c == ' ':
			b.WriteByte('-')
		}
	}
	found[b.String()] = true
}

// generated returns the anchors that the pages of benchmarks have once all of
// each is measured: those of the headings in the package that writes them.
func generated(t *testing.T, root string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "bench", "internal", "report", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing writes benchmarks: %v", err)
	}
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`"(?:\\n)*## ([^"\\%]+)\\n`).FindAllStringSubmatch(string(text), -1) {
			addAnchor(found, m[1])
		}
	}
	return found
}

// TestLinks: every link to a file of the repository, and to a place in it, leads
// somewhere.
func TestLinks(t *testing.T) {
	root := gatewaytest.Root()
	pages, links := pagesOf(t, root), 0
	places := map[string]map[string]bool{}
	for name, text := range pages {
		places[name] = anchors(text)
	}
	for _, name := range []string{"docs/benchmarks.md", "docs/benchmarks-libraries.md"} {
		maps.Copy(places[name], generated(t, root))
	}
	for name, text := range pages {
		for i, line := range prose(text) {
			for _, m := range target.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
				if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
					continue
				}
				links++
				path, place, _ := strings.Cut(m[1], "#")
				to := name
				if path != "" {
					to = filepath.ToSlash(filepath.Join(filepath.Dir(name), path))
				}
				if _, err := os.Stat(filepath.Join(root, to)); err != nil {
					t.Errorf("%s:%d: %s: %v", name, i, m[1], err)
				}
				if place != "" && !places[to][place] {
					t.Errorf("%s:%d: %s: there is no such heading", name, i, m[1])
				}
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links were found", links)
	}
}

// TestNoRowTwice: no table has a row twice, which is what two edits merged make.
func TestNoRowTwice(t *testing.T) {
	tables := 0
	for name, text := range pagesOf(t, gatewaytest.Root()) {
		lines := prose(text)
		var seen map[string]int
		for _, i := range slices.Sorted(maps.Keys(lines)) {
			row := strings.Join(strings.Fields(lines[i]), " ")
			if !strings.HasPrefix(row, "|") {
				seen = nil
				continue
			}
			if seen == nil || lines[i-1] == "" {
				seen = map[string]int{}
				tables++
			}
			if first := seen[row]; first > 0 {
				t.Errorf("%s:%d: the row stands in line %d too: %.80s", name, i, first, row)
			}
			seen[row] = i
		}
	}
	if tables < 20 {
		t.Errorf("%d tables were found", tables)
	}
}

// TestPagesWaitForTheirOwn: a reader may have other jobs in the shell, which a
// wait without names would wait for.
func TestPagesWaitForTheirOwn(t *testing.T) {
	waits := 0
	for name, text := range pagesOf(t, gatewaytest.Root()) {
		blocks, err := Parse(text)
		if !strings.Contains(name, "quickstart") {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, b := range blocks {
			for line := range strings.Lines(b.Script) {
				switch words := strings.Fields(line); {
				case len(words) == 0 || words[0] != "wait":
				case len(words) == 1 || !strings.HasPrefix(words[1], "$"):
					t.Errorf("%s:%d: %s waits for everything", name, b.Line, strings.TrimSpace(line))
				default:
					waits++
				}
			}
		}
	}
	if waits < 6 {
		t.Errorf("%d waits were found", waits)
	}
}
