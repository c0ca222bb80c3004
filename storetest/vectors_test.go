package storetest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write Model's answers into testdata/vectors")

// TestVectorsAreModelAnswers also holds that no vector asks what stores may
// answer differently, and that none fails to parse.
func TestVectorsAreModelAnswers(t *testing.T) {
	files, err := filepath.Glob(vectorDir + "/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		v, err := parseVector(filepath.Base(file), string(text))
		if err != nil {
			t.Fatal(err)
		}
		want, err := v.rewritten()
		if err != nil {
			t.Fatal(err)
		}
		if want == string(text) {
			continue
		}
		if !*rewrite {
			t.Errorf("%s does not hold Model's answers; run with -rewrite and read the difference", file)
			continue
		}
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestVectorsCoverEverything lists what at least one vector has to use.
func TestVectorsCoverEverything(t *testing.T) {
	var all strings.Builder
	for _, file := range vectorNames(t) {
		text, err := vectorFiles.ReadFile(vectorDir + "/" + file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, want := range []string{
		"gcra", " burst ", "token_bucket", "leaky_bucket", "fixed_window", "sliding_log", "concurrency",
		" shadow", " always", " peek", " refund", " up_to", " group=1", " id=", " ; ", " + ",
		"back ", "forward ", "times ", "read ", "reset ", " next=", " last=", " old=",
		"admit replayed", "deny", "retry=never", "delay=",
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no vector has %q", want)
		}
	}
}

func vectorNames(t *testing.T) []string {
	t.Helper()
	files, err := vectorFiles.ReadDir(vectorDir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}
