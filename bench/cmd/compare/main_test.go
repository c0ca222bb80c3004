package main

import (
	"io"
	"strings"
	"testing"

	"github.com/weirlimit/weir/bench/internal/report"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args string
		want options
	}{
		{"", options{rounds: 5, out: document}},
		{"-check -rounds 9", options{rounds: 9, check: true, out: document}},
		{"-quick", options{rounds: 2, quick: true}},
		{"-only middleware", options{rounds: 5, only: "middleware"}},
		{"-only local", options{rounds: 5, only: "local"}},
		{"-only memory", options{rounds: 5, only: "memory"}},
		{"-only redis -out x.md", options{rounds: 5, only: "redis", out: "x.md"}},
		{"-quick -rounds 1 -out x.md", options{rounds: 1, quick: true, out: "x.md"}},
	} {
		got, err := parse(strings.Fields(c.args), io.Discard)
		if err != nil || got != c.want {
			t.Errorf("parse %q = %+v, %v, want %+v", c.args, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, args := range []string{"-only disk", "-rounds -1", "memory", "-nonsense"} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("parse %q is accepted", args)
		}
	}
}

func TestVerdict(t *testing.T) {
	bars := []report.Bar{{Promise: "fast", Measured: "1 ns", Met: true}, {Promise: "small", Measured: "9 GB"}}
	text, met := verdict(bars)
	if want := "PASS  fast: 1 ns\nMISS  small: 9 GB\n"; text != want || met {
		t.Errorf("verdict = %q, %v, want %q and a miss", text, met, want)
	}
	if _, met := verdict(bars[:1]); !met {
		t.Error("a cleared bar is a miss")
	}
}
