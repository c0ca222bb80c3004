package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPoisonCompat: with --compat envoy one bad file keeps a whole load out, as
// in envoyproxy/ratelimit, and what was served is served on.
func TestPoisonCompat(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testPoisonCompat)
}

func testPoisonCompat(t *testing.T) {
	dir := t.TempDir()
	const good = "domain: good\ndescriptors:\n  - key: tenant\n    rate_limit: {unit: hour, requests_per_unit: %d}\n"
	goodPath, badPath := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "poison.yaml")
	write(t, goodPath, fmt.Sprintf(good, 7777))
	w := serve(t, "--compat", "envoy", "--config", dir)
	names, err := filepath.Glob("../../policy/testdata/envoy/bad/*.yaml")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d bad files, %v", len(names), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, badPath, string(text))
		write(t, goodPath, fmt.Sprintf(good, 8888)) // must wait
		w.awaitPoisoned(badPath, poison{filepath.Base(name), string(text), true})
		if c := w.config(); !c.Rejected {
			t.Errorf("%s: the load was not rejected: %+v", name, c)
		}
		w.askJSON(7777)
		write(t, goodPath, fmt.Sprintf(good, 7777))
		if err := os.Remove(badPath); err != nil {
			t.Fatal(err)
		}
		await(t, "the good file to be all there is", func() error {
			if c := w.config(); c.Rejected || len(c.Files) != 1 {
				return fmt.Errorf("%+v", c)
			}
			return nil
		})
	}
	write(t, goodPath, fmt.Sprintf(good, 8888))
	await(t, "a good change", func() error { return w.json(8888) })
}

func (w *instance) askJSON(limit int) {
	w.t.Helper()
	if err := w.json(limit); err != nil {
		w.t.Fatal(err)
	}
}

// json asks Envoy's service over HTTP, and returns nil if this limit applies.
func (w *instance) json(limit int) error {
	w.t.Helper()
	resp, err := plain.Post("http://"+w.http+"/json", "application/json",
		strings.NewReader(`{"domain": "good", "descriptors": [{"entries": [{"key": "tenant", "value": "acme"}]}]}`))
	if err != nil {
		return err
	}
	resp, body := withBody(w.t, resp)
	want := fmt.Sprintf(`"requestsPerUnit":%d`, limit)
	if resp.StatusCode != http.StatusOK || !strings.Contains(strings.ReplaceAll(string(body), " ", ""), want) {
		return fmt.Errorf("%s: %s, want %s", resp.Status, body, want)
	}
	return nil
}
