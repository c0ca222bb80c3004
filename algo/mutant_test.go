package algo_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// inMutant is set in the environment of a mutant's tests, which do not go on to
// make mutants of their own.
const inMutant = "WEIR_ALGO_MUTANT"

// TestMutantsAreCaught builds this package's tests against sources with one
// thing wrong, and expects a test to fail. A test suite that no mistake makes
// fail proves nothing.
func TestMutantsAreCaught(t *testing.T) {
	if os.Getenv(inMutant) != "" {
		t.Skip("these are a mutant's tests")
	}
	if testing.Short() {
		t.Skip("builds the tests once per mutant")
	}
	turns := make(chan struct{}, 2) // a build takes a core
	t.Run("none", func(t *testing.T) {
		if out, passed := runMutated(t, turns, nil); !passed {
			t.Fatalf("the tests fail without a mutant:\n%s", out)
		}
	})
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			out, passed := runMutated(t, turns, m.overlay(t))
			if passed {
				t.Errorf("no test fails when %s: %s has %q for %q", m.name, m.file, m.new, m.old)
			} else if !strings.Contains(out, "--- FAIL") {
				t.Errorf("no test failed, but something did:\n%s", out)
			}
		})
	}
}

// overlay writes the mutated file and returns what it stands in for.
func (m mutant) overlay(t *testing.T) map[string]string {
	path, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		t.Fatalf("%s has %q %d times: bring the mutant up to date", m.file, m.old, n)
	}
	mutated := filepath.Join(t.TempDir(), m.file)
	if err := os.WriteFile(mutated, []byte(strings.Replace(string(source), m.old, m.new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	return map[string]string{path: mutated}
}

// runMutated builds and runs the tests with some files replaced. What does not
// build is no mutant.
func runMutated(t *testing.T, turns chan struct{}, replace map[string]string) (output string, passed bool) {
	turns <- struct{}{}
	defer func() { <-turns }()
	dir := t.TempDir()
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	binary := filepath.Join(dir, "algo.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-buildvcs=false", "-ldflags=-s -w",
		"-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	// One seed, so that a mutant caught once is caught again; no files of
	// failures beside the sources.
	run := exec.CommandContext(ctx, binary, "-test.short", "-test.failfast", "-test.timeout=60s",
		"-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=0s")
	run.Env = append(os.Environ(), inMutant+"=1")
	out, err := run.CombinedOutput()
	if len(out) > 4000 {
		out = out[:4000]
	}
	return string(out), err == nil
}
