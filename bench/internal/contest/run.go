package contest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir/bench/internal/measure"
	"github.com/weirlimit/weir/internal/redistest"
)

// Plan is what to measure.
type Plan struct {
	Programs   Programs
	Rounds     int
	Quick      bool   // short turns and small sizes: a look, not a measurement
	Only       string // parts and scenarios whose name has this
	Recordings string // directory that the recordings are written to and replayed from
	Seed       uint64
	Log        func(string, ...any)
}

// The parts of a run besides the scenarios, by which Plan.Only asks for them.
const (
	partAnswers   = "answers"
	partLatency   = "latency"
	partGrowth    = "growth: " // and the curve's name
	partLibraries = "libraries"
)

// Run measures everything, on servers that end with t.
func Run(ctx context.Context, t testing.TB, p Plan) (*Result, error) {
	t.Helper()
	dir, err := os.MkdirTemp("", "weir-contest-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // in the system's directory for such
	a := &arena{programs: p.Programs, redis: redistest.Start(t), dir: dir, certs: newCertificates(t)}
	eng, err := enginesOf(ctx, p.Programs.Weir)
	if err != nil {
		return nil, err
	}
	res := &Result{Machine: measure.ThisMachine(), Date: time.Now(), Rounds: p.Rounds, Quick: p.Quick, Seed: p.Seed}
	if res.Redis, err = measure.RedisVersion(a.redis); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name string
		run  func(context.Context, *arena, []string, *Result) error
	}{
		{partAnswers, p.answers},
		{"", p.scenarios}, // picks by name
		{partLatency, p.latency},
		{"", p.growth}, // the same
		{partLibraries, p.libraries},
	} {
		if part.name != "" && !p.wants(part.name) {
			continue
		}
		if err := part.run(ctx, a, eng, res); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return res, nil
}

func (p Plan) wants(part string) bool {
	return p.Only == "" || strings.Contains(part, p.Only)
}

// enginesOf asks a Weir for its engines.
func enginesOf(ctx context.Context, program string) ([]string, error) {
	help, err := exec.CommandContext(ctx, program, "serve", "--help").Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for its flags: %w", program, err)
	}
	return engines(string(help)), nil
}

// answers compares what systems say to the same requests.
func (p Plan) answers(ctx context.Context, a *arena, eng []string, res *Result) error {
	p.Log("answers: the same requests, one after the other")
	rec, err := p.recording(partAnswers, compareRequests(rand.New(rand.NewPCG(p.Seed, 0)), 3000))
	if err != nil {
		return err
	}
	res.Answers, err = a.compare(ctx, rec, weirs(eng, ", --compat envoy", false, "--compat", "envoy"))
	return err
}
