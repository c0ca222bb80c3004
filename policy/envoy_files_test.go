package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEnvoyGoodFiles: files as people write them have no problems, in either
// way of counting, and live beside each other.
func TestEnvoyGoodFiles(t *testing.T) {
	var files []*File
	for _, name := range envoyTestdata(t, "good") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, problems := ParseEnvoy(name, text)
		if len(problems) > 0 {
			t.Fatalf("%s: %v", name, problems)
		}
		files = append(files, &File{Name: name, Envoy: f})
	}
	for _, compat := range []bool{false, true} {
		if s, problems := Compile(files, Options{EnvoyCompat: compat}); s == nil || len(problems) > 0 {
			t.Errorf("compat %v: %v", compat, problems)
		}
	}
}

// TestEnvoyBadFiles: the first line of each file says its first error.
func TestEnvoyBadFiles(t *testing.T) {
	for _, name := range envoyTestdata(t, "bad") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(text), "\n")
			want := "f:" + strings.TrimPrefix(first, "# ")
			f, problems := ParseEnvoy("f", text)
			if got, _, _ := strings.Cut(linesOf(problems, false), "\n"); f != nil || got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func envoyTestdata(t *testing.T, folder string) []string {
	names, err := filepath.Glob(filepath.Join("testdata", "envoy", folder, "*.yaml"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v, %d files", folder, err, len(names))
	}
	return names
}
