package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	base := options{weir: "../bin/weir", ratelimit: "../bin/ratelimit", rounds: 3, seed: 1}
	with := func(f func(*options)) options { o := base; f(&o); return o }
	for _, c := range []struct {
		args, command string
		want          options
	}{
		{"", "make bench-peers", with(func(o *options) { o.docs = docs })},
		{"-check -o x.json", "make bench-peers", with(func(o *options) { o.check, o.json, o.docs = true, "x.json", docs })},
		{"-quick", `make bench-peers BENCH="-quick"`, with(func(o *options) { o.quick, o.rounds = true, 1 })},
		{"-only growth -docs d", `make bench-peers BENCH="-only growth"`, with(func(o *options) { o.only, o.docs = "growth", "d" })},
		{"-from x.json", "make bench-peers", with(func(o *options) { o.from, o.docs = "x.json", docs })},
		{"-rounds 5 -seed 7", `make bench-peers BENCH="-seed 7 -rounds 5"`, with(func(o *options) { o.rounds, o.seed, o.docs = 5, 7, docs })},
	} {
		got, err := parse(strings.Fields(c.args), io.Discard)
		if err != nil || got != c.want || got.command() != c.command {
			t.Errorf("parse %q = %+v, %s, %v, want %+v, %s", c.args, got, got.command(), err, c.want, c.command)
		}
	}
	for _, args := range []string{"-rounds -1", "growth", "-nonsense", "-from x.json -only growth"} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("parse %q is accepted", args)
		}
	}
}

func TestPeerVersionOfAnotherProgram(t *testing.T) {
	if _, err := peerVersion("/proc/self/exe"); err == nil {
		t.Error("this test passes for the peer")
	}
	if _, err := peerVersion("nowhere"); err == nil || !strings.Contains(err.Error(), "make bench-peers") {
		t.Errorf("error %v, want a hint", err)
	}
}

// What is drawn no more goes, and nothing else.
func TestRemovePlots(t *testing.T) {
	docs := t.TempDir()
	dir := filepath.Join(docs, "plots")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"old.svg", "new.svg", "readme.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := removePlots(docs, map[string]string{"plots/new.svg": "", "benchmarks.md": ""}); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 || left[0].Name() != "new.svg" || left[1].Name() != "readme.txt" {
		t.Errorf("left are %v, %v", left, err)
	}
}

// A document of an earlier run is written from its samples alone.
func TestFrom(t *testing.T) {
	dir := t.TempDir()
	samples := filepath.Join(dir, "samples.json")
	text := `{"Command":"make bench-peers","Rounds":3,"Scenarios":[{"Name":"one hot key, exact, allowed","Rows":[{"System":"Weir","Ours":true,"Samples":[{"Rate":200000}]}]}]}`
	if err := os.WriteFile(samples, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	met, err := run(t.Context(), []string{"-from", samples, "-docs", dir, "-check"}, &out, io.Discard)
	if err != nil || !met || !strings.Contains(out.String(), "PASS  one hot key") {
		t.Errorf("%v, %v\n%s", met, err, out.String())
	}
	page, err := os.ReadFile(filepath.Join(dir, "benchmarks.md"))
	if err != nil || !strings.HasPrefix(string(page), "# Benchmarks\n") {
		t.Errorf("page %.40s, %v", page, err)
	}
}
