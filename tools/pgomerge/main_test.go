package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// sample is a profile in which fn ran for n samples, in a program at a path.
func sample(t *testing.T, fn string, n int64) string {
	t.Helper()
	f := &profile.Function{ID: 1, Name: fn, SystemName: fn, Filename: "example.com/m/a.go", StartLine: 3}
	m := &profile.Mapping{ID: 1, Start: 1, Limit: 99, File: "/home/somebody/program", BuildID: "abc"}
	l := &profile.Location{ID: 1, Mapping: m, Address: 42, Line: []profile.Line{{Function: f, Line: 5}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1, TimeNanos: 7, Comments: []string{"on a machine"},
		Sample:  []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{n, 10 * n}}},
		Mapping: []*profile.Mapping{m}, Location: []*profile.Location{l}, Function: []*profile.Function{f},
	}
	name := filepath.Join(t.TempDir(), "p.pprof")
	if err := write(name, p); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestMerge(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.pgo")
	if err := run([]string{out, sample(t, "m.a", 3), sample(t, "m.b", 4), sample(t, "m.a", 5)}); err != nil {
		t.Fatal(err)
	}
	p, err := read(out)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, s := range p.Sample {
		line := s.Location[0].Line[0]
		got[line.Function.Name] += s.Value[0]
		if line.Line != 5 || line.Function.StartLine != 3 {
			t.Errorf("%s is at line %d of %d", line.Function.Name, line.Line, line.Function.StartLine)
		}
	}
	if len(got) != 2 || got["m.a"] != 8 || got["m.b"] != 4 {
		t.Errorf("samples %v", got)
	}
	anonymous(t, p)
}

func TestBadArguments(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"out"}, {"out", none}, {"out", empty}} {
		if err := run(args); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// What is committed tells nothing of where it was made.
func TestCommittedProfile(t *testing.T) {
	p, err := read("../../cmd/weir/default.pgo")
	if err != nil {
		t.Fatal(err)
	}
	anonymous(t, p)
	found := false
	for _, f := range p.Function {
		found = found || strings.HasSuffix(f.Name, "weir/policy.(*Set).Resolve")
	}
	if !found {
		t.Error("the server's own work is not in it")
	}
}

func anonymous(t *testing.T, p *profile.Profile) {
	t.Helper()
	if p.TimeNanos != 0 || len(p.Comments) > 0 {
		t.Errorf("it says when %d, and %q", p.TimeNanos, p.Comments)
	}
	for _, m := range p.Mapping {
		if m.File != "" || m.BuildID != "" {
			t.Errorf("it says which program: %q %q", m.File, m.BuildID)
		}
	}
	for _, f := range p.Function {
		if filepath.IsAbs(f.Filename) {
			t.Errorf("it has a path: %s", f.Filename)
		}
	}
}
