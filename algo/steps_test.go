package algo_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

var rewrite = flag.Bool("rewrite", false, "write the answers found into testdata/steps")

// A file of steps is made of these lines, others are comments or empty:
//
//	limit 10/s burst 5                      an empty key under this limit
//	change 20/s burst 5                     the same key under another limit
//	250ms enforce 1 [by owner] = answer     one charge, at an instant after epoch
//
// An answer names what is not zero: whether the charge fits, what was granted,
// what is left, and the times until reset, until a retry fits, and to wait.
type script struct {
	meter  *weir.Meter
	state  algo.State
	stored bool   // keep the key in its stored form between steps
	bytes  []byte // that form; empty for an empty state
}

// TestSteps runs every step of testdata/steps on fixed instants.
func TestSteps(t *testing.T) {
	eachScript(t, func(t *testing.T, path, text string) {
		got := run(t, path, text, false)
		if *rewrite && got != text {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		diff(t, path, text, got)
	})
}

// TestStepsOnStoredStates runs them on a key that is written and read between
// any two steps, and only when a step made it dirty: what a store does.
func TestStepsOnStoredStates(t *testing.T) {
	eachScript(t, func(t *testing.T, path, text string) { diff(t, path, text, run(t, path, text, true)) })
}

func eachScript(t *testing.T, do func(t *testing.T, path, text string)) {
	paths, err := filepath.Glob("testdata/steps/*.txt")
	if err != nil || len(paths) < len(everyAlgorithm) {
		t.Fatalf("found %d files of steps, want one per algorithm at least (%v)", len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) { do(t, path, string(text)) })
	}
}

// run returns the text with the answers found.
func run(t *testing.T, path, text string, stored bool) string {
	t.Helper()
	s := script{stored: stored}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		answered, err := s.line(line)
		if err != nil {
			t.Fatalf("%s:%d: %v", path, i+1, err)
		}
		lines[i] = answered
	}
	return strings.Join(lines, "\n")
}

func diff(t *testing.T, path, want, got string) {
	t.Helper()
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range wants {
		if wants[i] != gots[i] {
			t.Errorf("%s:%d:\nwant %s\n got %s", path, i+1, wants[i], gots[i])
		}
	}
}

func (s *script) line(line string) (string, error) {
	words := strings.Fields(line)
	if len(words) == 0 || words[0] == "#" {
		return line, nil
	}
	if words[0] == "limit" || words[0] == "change" {
		if words[0] == "limit" {
			s.state, s.bytes = algo.State{}, nil
		}
		l, err := weir.ParseLimit(strings.Join(words[1:], " "))
		if err != nil {
			return "", err
		}
		s.meter, err = weir.NewMeter(l)
		return line, err
	}
	if s.meter == nil {
		return "", fmt.Errorf("a step before any limit")
	}
	step, _, _ := strings.Cut(line, " = ")
	out, err := s.step(strings.Fields(step))
	return strings.TrimRight(step, " ") + " = " + answer(out), err
}

// step runs "250ms enforce 1 by owner".
func (s *script) step(words []string) (weir.Outcome, error) {
	if len(words) != 3 && (len(words) != 5 || words[3] != "by") {
		return weir.Outcome{}, fmt.Errorf("not a step: %q", words)
	}
	after, err := time.ParseDuration(words[0])
	if err != nil {
		return weir.Outcome{}, err
	}
	cost, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return weir.Outcome{}, err
	}
	c := weir.Charge{Key: "k", Meter: s.meter, Cost: cost, Mode: modeOf(words[1])}
	e := weir.Entry{Charges: []weir.Charge{c}}
	if len(words) == 5 {
		e.ID = words[4]
	}
	if err := e.Validate(); err != nil {
		return weir.Outcome{}, err
	}
	if err := s.load(); err != nil {
		return weir.Outcome{}, err
	}
	out, states := make([]weir.Outcome, 1), []algo.State{s.state}
	algo.Settle(e.Charges, algo.OwnerOf(e.ID), states, epoch+weir.MicrosOf(after), out)
	s.state = states[0]
	s.save()
	return out[0], nil
}

func (s *script) load() error {
	if !s.stored {
		return nil
	}
	s.state = algo.State{}
	if len(s.bytes) == 0 {
		return nil
	}
	return algo.ParseState(s.bytes, s.meter, &s.state)
}

func (s *script) save() {
	switch {
	case !s.stored || !s.state.Dirty:
	case s.state.Used == 0:
		s.bytes = nil
	default:
		s.bytes = algo.AppendState(nil, s.meter, &s.state)
	}
}

func modeOf(name string) weir.Mode {
	for m := weir.Enforce; m <= weir.UpTo; m++ {
		if m.String() == name {
			return m
		}
	}
	return weir.UpTo + 1 // which no entry may have
}

func answer(o weir.Outcome) string {
	words := []string{"deny"}
	if o.OK {
		words[0] = "ok"
	}
	if o.Granted != 0 {
		words = append(words, fmt.Sprintf("granted %d", o.Granted))
	}
	words = append(words, fmt.Sprintf("left %d", o.Remaining))
	for _, d := range []struct {
		name string
		span weir.Micros
	}{{"reset", o.ResetAfter}, {"retry", o.RetryAfter}, {"delay", o.Delay}} {
		switch d.span {
		case 0:
		case weir.Never:
			words = append(words, d.name+" never")
		default:
			words = append(words, d.name+" "+d.span.Duration().String())
		}
	}
	return strings.Join(words, " ")
}
