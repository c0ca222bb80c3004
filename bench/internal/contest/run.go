package contest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/weirlimit/weir/bench/internal/measure"
	"github.com/weirlimit/weir/bench/internal/rlsload"
	"github.com/weirlimit/weir/internal/redistest"
)

// Plan is what to measure.
type Plan struct {
	Programs   Programs
	Rounds     int
	Quick      bool   // short turns and small sizes: a look, not a measurement
	Only       string // scenarios whose name has this; "growth" and "answers" are those parts
	Recordings string // directory that the recordings are written to and replayed from
	Seed       uint64
	Log        func(string, ...any)
}

// Run measures everything on a Redis.
func Run(ctx context.Context, p Plan, redis *redistest.Server) (*Result, error) {
	a, err := newArena(p, redis)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(a.dir) }() // in the system's directory for such
	eng, err := enginesOf(ctx, p.Programs.Weir)
	if err != nil {
		return nil, err
	}
	res := &Result{Machine: measure.ThisMachine(), Date: time.Now(), Rounds: p.Rounds, Quick: p.Quick, Seed: p.Seed}
	if res.Redis, err = measure.RedisVersion(redis); err != nil {
		return nil, err
	}
	if p.wants("answers") {
		p.Log("answers: the same requests, one after the other")
		rec, err := p.recording("answers", compareRecording(rand.New(rand.NewPCG(p.Seed, 0)), 3000))
		if err != nil {
			return nil, err
		}
		if res.Answers, err = a.compare(ctx, rec, weirs(eng, ", --compat envoy", false, "--compat", "envoy")); err != nil {
			return nil, err
		}
	}
	if err := p.scenarios(ctx, a, eng, res); err != nil {
		return nil, err
	}
	if err := p.latency(ctx, a, eng, res); err != nil {
		return nil, err
	}
	if p.wants("growth") {
		err = p.growth(ctx, a, eng, res)
	}
	return res, err
}

func (p Plan) wants(part string) bool {
	return p.Only == "" || strings.Contains(part, p.Only)
}

func newArena(p Plan, redis *redistest.Server) (*arena, error) {
	info, err := redis.Do("INFO", "server")
	if err != nil {
		return nil, err
	}
	text, _ := info.(string)
	_, rest, _ := strings.Cut(text, "process_id:")
	line, _, _ := strings.Cut(rest, "\r\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		return nil, fmt.Errorf("find Redis's process: %w", err)
	}
	dir, err := os.MkdirTemp("", "weir-contest-")
	if err != nil {
		return nil, err
	}
	return &arena{programs: p.Programs, redis: redis, redisPid: pid, dir: dir}, nil
}

// enginesOf asks a Weir for its engines.
func enginesOf(ctx context.Context, program string) ([]string, error) {
	help, err := exec.CommandContext(ctx, program, "serve", "--help").Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for its flags: %w", program, err)
	}
	return engines(string(help)), nil
}

// recording writes what was made up to a file, and returns what that file says.
func (p Plan) recording(name string, rec rlsload.Recording) (_ rlsload.Recording, err error) {
	path := filepath.Join(p.Recordings, name+".txt")
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	_, err = rec.WriteTo(f)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	if f, err = os.Open(path); err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	return rlsload.ReadRecording(f)
}

// scenarios takes the turns, round by round.
func (p Plan) scenarios(ctx context.Context, a *arena, eng []string, res *Result) error {
	warmUp, length := 700*time.Millisecond, 2500*time.Millisecond
	if p.Quick {
		warmUp, length = 300*time.Millisecond, 700*time.Millisecond
	}
	res.Seconds = length.Seconds()
	var scripts []rlsload.Script
	var wanted []Scenario
	for i, sc := range scenarios(eng) {
		if !p.wants(sc.Name) {
			continue
		}
		rec, err := p.recording("scenario-"+strconv.Itoa(i+1), sc.Record(rand.New(rand.NewPCG(p.Seed, uint64(i+1))), recordLen))
		if err != nil {
			return err
		}
		script, err := rlsload.NewScript(rec)
		if err != nil {
			return err
		}
		t := Table{Name: sc.Name, Note: sc.Note, Open: sc.Open}
		for _, sys := range sc.Systems {
			t.Rows = append(t.Rows, Row{System: sys.Name, Ours: sys.Ours})
		}
		res.Scenarios, wanted, scripts = append(res.Scenarios, t), append(wanted, sc), append(scripts, script)
	}
	for round := range p.Rounds {
		for i, sc := range wanted {
			for j, sys := range sc.Systems {
				s, err := p.attempt(ctx, a, sc, turn{
					name: "scenario", config: sc.Config, system: sys, script: scripts[i], rate: sc.rate(), fill: sc.Fill,
					warmUp: max(warmUp, sc.WarmUp), measure: length,
				})
				if err != nil {
					return fmt.Errorf("%s: %w", sc.Name, err)
				}
				p.Log("round %d/%d, %s: %s: %.0f/s, %.1f+%.1f us", round+1, p.Rounds, sc.Name, sys.Name, s.Rate, s.Server, s.RedisCPU)
				row := &res.Scenarios[i].Rows[j]
				row.Samples = append(row.Samples, s)
			}
		}
	}
	return nil
}

// attempts a turn has: a window of an hour may end in one, and another program
// may stop the machine for a second.
const attempts = 3

// attempt takes a turn, and takes it again when it is refused.
func (p Plan) attempt(ctx context.Context, a *arena, sc Scenario, t turn) (Sample, error) {
	for n := 1; ; n++ {
		s, err := a.take(ctx, t)
		if err != nil {
			return s, err
		}
		if err = sc.check(t.system, s); err == nil || n == attempts {
			return s, err
		}
		p.Log("%s: refused, once more: %v", sc.Name, err)
	}
}

func (sc Scenario) rate() int {
	if sc.Open {
		return openRate
	}
	return 0
}

// check refuses a turn that did not measure what it should have.
func (sc Scenario) check(sys System, s Sample) error {
	const few = 0.001
	all := float64(s.OK + s.Denied + s.Failed)
	denied := float64(s.Denied) / max(all, 1)
	switch {
	case all == 0:
		return fmt.Errorf("%s: no answers", sys.Name)
	case float64(s.Failed) > few*all:
		return fmt.Errorf("%s: %d of %.0f requests failed, grpc-status %d", sys.Name, s.Failed, all, s.Status)
	case sc.Name == DeniedFlood && denied < 1-few, sc.Name != DeniedFlood && denied > 0:
		return fmt.Errorf("%s: %.2f%% of the requests were denied", sys.Name, denied*100)
	case sc.Redis && sys.Ours && s.Sources["store"] < 1-few:
		return fmt.Errorf("%s: decisions by other sources than Redis: %v", sys.Name, s.Sources)
	}
	return nil
}

func (p Plan) growth(ctx context.Context, a *arena, eng []string, res *Result) error {
	g := growthPlan{
		redisKeys:  []uint64{1e3, 1e4, 1e5, 1e6, 1e7},
		memoryKeys: []uint64{1e3, 1e4, 1e5, 1e6},
		rules:      []int{10, 100, 1000, 10_000, 100_000},
		samples:    3, warmUp: 300 * time.Millisecond, measure: 1200 * time.Millisecond, log: p.Log,
	}
	if p.Quick {
		g.redisKeys, g.memoryKeys, g.rules = g.redisKeys[:3], g.memoryKeys[:4], g.rules[:4]
		g.samples, g.measure = 1, 500*time.Millisecond
	}
	eng = eng[len(eng)-1:] // the one that is judged
	inRedis, inMemory := weirs(eng, "", false)[0], weirs(eng, ", memory", true)[0]
	rules, err := interleave(g, func(g growthPlan) (Curve, error) {
		return a.rulesCurve(ctx, Curve{
			Name: "rules", Note: "Counters in memory, 10k of them whatever the number of rules; a domain has 10k rules at most.",
		}, inMemory, g)
	})
	if err != nil {
		return err
	}
	memory, err := interleave(g, func(g growthPlan) (Curve, error) {
		return a.keysCurve(ctx, Curve{
			Name: "keys in memory", Note: "Counters in memory, all there before they are measured; a server keeps a million at most.",
		}, inMemory, g.memoryKeys, g)
	})
	if err != nil {
		return err
	}
	redis, err := a.keysCurve(ctx, Curve{
		Name: "keys in Redis", Note: "Counters in Redis, all there before they are measured; sizes are measured one after the other, as it is filled.",
	}, inRedis, g.redisKeys, g)
	res.Growth = []Curve{redis, memory, rules}
	return err
}
