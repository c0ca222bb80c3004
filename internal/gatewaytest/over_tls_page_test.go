package gatewaytest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What the page says is the place of its lines, and how an example opens that
// place.
var overTLSPlaces = map[string]struct{ page, file string }{
	"nginx":   {"nginx, in `location = /_weir`", "location = /_weir {\n"},
	"caddy":   {"Caddy, in the `transport http` of the first `reverse_proxy`", "transport http {\n"},
	"haproxy": {"HAProxy, in the backend `weir`", "\nbackend weir\n"},
}

// overTLS returns the lines of docs/gateways.md that make a gateway speak TLS.
func overTLS(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(Root(), "docs", "gateways.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Over TLS\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, text, _ := strings.Cut(section, "\n"+overTLSPlaces[name].page)
	_, text, _ = strings.Cut(text, "\n```")
	_, text, _ = strings.Cut(text, "\n") // the rest of the fence
	text, _, ok := strings.Cut(text, "\n```\n")
	if !ok {
		t.Fatalf("docs/gateways.md has nothing in its section Over TLS for %q", overTLSPlaces[name].page)
	}
	return text
}

// speakTLS is the edit that the page describes, with the certificates of a
// directory: a line takes the place of the example's line of the same name, or
// is added. What is not a file with that place stays as it is.
func (s *site) speakTLS(t *testing.T, dir string) func(string) string {
	t.Helper()
	snippet := strings.NewReplacer("/etc/weir/", dir+"/", DocumentedWeir, s.weir.HTTP).Replace(overTLS(t, s.kind.name))
	return func(conf string) string {
		head, rest, ok := strings.Cut(conf, overTLSPlaces[s.kind.name].file)
		if !ok {
			return conf
		}
		lines := strings.Split(rest, "\n")
		for _, line := range strings.Split(snippet, "\n") {
			i := slices.IndexFunc(lines, func(old string) bool { return ends(old) || directive(old) == directive(line) })
			if i < 0 || ends(lines[i]) {
				lines = slices.Insert(lines, 0, line)
			} else {
				lines[i] = line
			}
		}
		return head + overTLSPlaces[s.kind.name].file + strings.Join(lines, "\n")
	}
}

// directive is the first word of a line.
func directive(line string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	return word
}

// ends tells the end of a place; HAProxy's is the end of the file.
func ends(line string) bool { return strings.TrimSpace(line) == "}" }
