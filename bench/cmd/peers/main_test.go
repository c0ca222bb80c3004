package main

import (
	"io"
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
		{"-rounds 5 -seed 7", `make bench-peers BENCH="-seed 7 -rounds 5"`, with(func(o *options) { o.rounds, o.seed, o.docs = 5, 7, docs })},
	} {
		got, err := parse(strings.Fields(c.args), io.Discard)
		if err != nil || got != c.want || got.command() != c.command {
			t.Errorf("parse %q = %+v, %s, %v, want %+v, %s", c.args, got, got.command(), err, c.want, c.command)
		}
	}
	for _, args := range []string{"-rounds -1", "growth", "-nonsense"} {
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
