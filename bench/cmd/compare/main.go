package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/weirlimit/weir/bench/internal/measure"
	"github.com/weirlimit/weir/bench/internal/peer"
	"github.com/weirlimit/weir/bench/internal/redisproc"
	"github.com/weirlimit/weir/bench/internal/report"
	"github.com/weirlimit/weir/internal/redistest"
)

// document is where the figures of a whole run go, as seen from bench.
const document = "../docs/benchmarks-libraries.md"

func main() {
	met, err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil && met:
	case err == nil:
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	quick  bool
	check  bool
	only   string
	out    string
	rounds int
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("compare", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.BoolVar(&o.quick, "quick", false, "few and short rounds: a look, not a measurement")
	set.BoolVar(&o.check, "check", false, "exit with 1 when a bar is missed")
	set.StringVar(&o.only, "only", "", "measure only `part`: memory, middleware, redis or local")
	set.StringVar(&o.out, "out", "", "write the document to `file`; "+document+" by default, and nowhere with -quick or -only")
	set.IntVar(&o.rounds, "rounds", 0, "how often each library takes its turn; 5 by default, 2 with -quick")
	if err := set.Parse(args); err != nil {
		return options{}, err
	}
	switch {
	case set.NArg() > 0:
		return options{}, fmt.Errorf("unexpected argument %q", set.Arg(0))
	case o.only != "" && !slices.Contains([]string{"memory", "middleware", "redis", "local"}, o.only):
		return options{}, fmt.Errorf("-only is memory, middleware, redis or local, not %q", o.only)
	case o.rounds < 0:
		return options{}, fmt.Errorf("-rounds is 1 or more, not %d", o.rounds)
	}
	if o.rounds == 0 {
		o.rounds = 5
		if o.quick {
			o.rounds = 2
		}
	}
	if o.out == "" && !o.quick && o.only == "" {
		o.out = document
	}
	return o, nil
}

// run measures, prints and writes. It reports whether the bars were cleared,
// as far as the flags ask.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (met bool, err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return false, err
	}
	start := time.Now()
	log := func(format string, args ...any) {
		// Whoever closed stderr does not want to see progress.
		_, _ = fmt.Fprintf(stderr, "%5.0fs  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
	}
	doc := &report.Document{
		Machine: measure.ThisMachine(),
		Modules: measure.Modules(peer.Modules),
		Date:    start,
		Command: strings.TrimSpace("cd bench && go run ./cmd/compare " + strings.Join(args, " ")),
		Rounds:  o.rounds,
	}
	if err := measureAll(ctx, o, doc, log); err != nil {
		return false, err
	}
	text := doc.Markdown()
	if _, err := io.WriteString(stdout, text); err != nil {
		return false, err
	}
	if o.out != "" {
		if err := os.WriteFile(o.out, []byte(text), 0o644); err != nil {
			return false, err
		}
		log("wrote %s", o.out)
	}
	text, met = verdict(doc.Bars())
	_, err = io.WriteString(stdout, "\n"+text)
	return met || !o.check, err
}

// verdict returns one line per bar, to be printed last so that it stays in
// sight, and whether all were cleared.
func verdict(bars []report.Bar) (text string, met bool) {
	met = true
	for _, b := range bars {
		text += fmt.Sprintf("%s  %s: %s\n", b.Verdict(), b.Promise, b.Measured)
		met = met && b.Met
	}
	return text, met
}

func measureAll(ctx context.Context, o options, doc *report.Document, log func(string, ...any)) error {
	measures := func(part string) bool { return o.only == "" || o.only == part }
	if measures("memory") {
		res, err := measure.Memory(memoryPlan(o, log), peer.InMemory())
		if err != nil {
			return err
		}
		doc.Memory = &res
	}
	if measures("middleware") {
		var err error
		if doc.Middleware, err = measure.Middleware(middlewarePlan(o, log), peer.Middlewares()); err != nil {
			return err
		}
	}
	if !measures("redis") && !measures("local") {
		return nil
	}
	return redisproc.Run(func(srv *redistest.Server) (err error) {
		if doc.RedisVersion, err = measure.RedisVersion(srv); err != nil {
			return err
		}
		if measures("redis") {
			if doc.Redis, err = measure.Redis(ctx, redisPlan(o, log), srv, peer.OnRedis()); err != nil {
				return err
			}
			if doc.KeySizes, err = measure.KeySizes(ctx, srv); err != nil {
				return err
			}
		}
		if measures("local") {
			doc.Local, err = measureLocal(ctx, o, srv, log)
		}
		return err
	})
}

func memoryPlan(o options, log func(string, ...any)) measure.MemoryPlan {
	plan := measure.MemoryPlan{
		Keys:   []int{10_000, 1_000_000},
		Cores:  []int{1, 2},
		Checks: 1_500_000,
		Rounds: o.rounds,
		Log:    log,
	}
	if o.quick {
		plan.Checks /= 5
	}
	return plan
}

func middlewarePlan(o options, log func(string, ...any)) measure.MiddlewarePlan {
	plan := measure.MiddlewarePlan{
		Keys:     []int{1, 10_000},
		Cores:    []int{1, 2},
		Requests: 300_000,
		Rounds:   o.rounds * 2, // short ones: a neighbour's burst of work falls on few
		Log:      log,
	}
	if o.quick {
		plan.Requests /= 3
	}
	return plan
}

func redisPlan(o options, log func(string, ...any)) measure.RedisPlan {
	plan := measure.RedisPlan{
		Scenarios: []measure.Scenario{
			{Name: "10k keys, 128 callers", Keys: 10_000, Callers: 128},
			{Name: "one hot key, 64 callers", Keys: 1, Callers: 64},
			{Name: "one hot key, 128 callers", Keys: 1, Callers: 128},
		},
		WarmUp:  300 * time.Millisecond,
		Measure: 1200 * time.Millisecond,
		Rounds:  o.rounds,
		Log:     log,
	}
	if o.quick {
		plan.WarmUp, plan.Measure = 150*time.Millisecond, 400*time.Millisecond
	}
	return plan
}
