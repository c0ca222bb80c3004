package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func noEnv(string) (string, bool) { return "", false }

// TestEveryFlagHasAVariable: what can be given one way can be given the other,
// no two flags of a command share one, and the help names it.
func TestEveryFlagHasAVariable(t *testing.T) {
	flags := 0
	root := newRoot(system{out: io.Discard, err: io.Discard, lookupEnv: noEnv})
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		seen := map[string]string{}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			flags++
			variable := strings.Join(f.Annotations[envAnnotation], " ")
			if !strings.HasPrefix(variable, "WEIR_") || !strings.Contains(f.Usage, variable) {
				t.Errorf("%s --%s has the variable %q and the help %q", cmd.CommandPath(), f.Name, variable, f.Usage)
			}
			if other, ok := seen[variable]; ok {
				t.Errorf("%s: --%s and --%s share %s", cmd.CommandPath(), f.Name, other, variable)
			}
			seen[variable] = f.Name
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
	if flags < 10 {
		t.Errorf("%d flags seen: the test looks in the wrong place", flags)
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	code := run(ctx, []string{"try"}, system{out: &out, err: &errs, lookupEnv: noEnv})
	if code != exitError || errs.String() != "weir: interrupted\n" {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
}

// brokenPipe fails after some bytes, like the reader of a pipe that went away.
type brokenPipe struct{ left int }

func (p *brokenPipe) Write(b []byte) (int, error) {
	if p.left -= len(b); p.left < 0 {
		return 0, errors.New("broken pipe")
	}
	return len(b), nil
}

// TestOutputThatFails: a result that was not written is no success, wherever
// the writing stopped.
func TestOutputThatFails(t *testing.T) {
	for _, args := range [][]string{
		{"try", "--limit", "1/h burst 12", "--count", "13"}, {"try", "-o", "json", "--wait", "0"}, {"version"},
	} {
		var whole, errs bytes.Buffer
		if code := run(context.Background(), args, system{out: &whole, err: &errs, lookupEnv: noEnv}); code != exitOK {
			t.Fatalf("%v: exit code %d, %s", args, code, errs.String())
		}
		for left := 0; left < whole.Len()/2; left += 7 {
			errs.Reset()
			code := run(context.Background(), args, system{out: &brokenPipe{left}, err: &errs, lookupEnv: noEnv})
			if code != exitError || !strings.Contains(errs.String(), "broken pipe") {
				t.Errorf("%v, pipe broken after %d bytes: exit code %d, %q", args, left, code, errs.String())
			}
		}
	}
}

func TestVersionText(t *testing.T) {
	full := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc123"}, {Key: "vcs.modified", Value: "true"},
	}}
	full.Main.Version = "v1.2.3"
	for want, info := range map[string]*debug.BuildInfo{
		"weir (devel) go":                    nil,
		"weir v1.2.3 abc123 (modified) go1.": full,
	} {
		if got := versionText(info); !strings.HasPrefix(got, want) {
			t.Errorf("version %q, want %q...", got, want)
		}
	}
}
