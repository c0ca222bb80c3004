package gatewaytest

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The addresses that the examples and the documents use.
const (
	DocumentedGateway = "127.0.0.1:8000"
	DocumentedWeir    = "127.0.0.1:8080"
	DocumentedBackend = "127.0.0.1:9000"
)

// Addrs are the addresses that stand for them in a test.
type Addrs struct{ Gateway, Weir, Backend string }

// Rewrite returns a text with the documented addresses replaced, and nothing
// else changed.
func (a Addrs) Rewrite(text string) string {
	return strings.NewReplacer(
		DocumentedGateway, a.Gateway, DocumentedWeir, a.Weir, DocumentedBackend, a.Backend,
	).Replace(text)
}

// Root is the root of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Example returns a file of examples/.
func Example(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(), "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// write writes a file that is readable by workers that run as somebody else.
func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
