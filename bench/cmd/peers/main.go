package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirlimit/weir/bench/internal/contest"
	"github.com/weirlimit/weir/bench/internal/redisproc"
	"github.com/weirlimit/weir/bench/internal/report"
)

// docs is where the figures of a whole run go, as seen from bench.
const docs = "../docs"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	met, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
	}
	if err != nil || !met {
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	weir, ratelimit string
	quick, check    bool
	only            string
	rounds          int
	seed            uint64
	docs            string
	json, from      string
	recordings      string
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("peers", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&o.weir, "weir", "../bin/weir", "`path` of weir")
	set.StringVar(&o.ratelimit, "ratelimit", "../bin/ratelimit", "`path` of envoyproxy/ratelimit")
	set.BoolVar(&o.quick, "quick", false, "one round of short turns, small sizes: a look, not a measurement")
	set.BoolVar(&o.check, "check", false, "exit with 1 when a bar is missed or an answer differs")
	set.StringVar(&o.only, "only", "", "measure only scenarios whose name has `part`; answers, latency, growth, its curves and libraries are parts too")
	set.IntVar(&o.rounds, "rounds", 0, "how often each system takes its turn; 3 by default, 1 with -quick")
	set.Uint64Var(&o.seed, "seed", 1, "seed of the recorded requests")
	set.StringVar(&o.docs, "docs", "", "write the document and its plots to `directory`; "+docs+" by default, and nowhere with -quick or -only")
	set.StringVar(&o.json, "o", "", "write all samples to `file`, as JSON")
	set.StringVar(&o.from, "from", "", "measure nothing: write the document of the samples in `file`, which -o wrote")
	set.StringVar(&o.recordings, "recordings", "", "keep the recorded requests in `directory`")
	if err := set.Parse(args); err != nil {
		return options{}, err
	}
	switch {
	case set.NArg() > 0:
		return options{}, fmt.Errorf("unexpected argument %q", set.Arg(0))
	case o.rounds < 0:
		return options{}, fmt.Errorf("-rounds is 1 or more, not %d", o.rounds)
	case o.from != "" && o.only != "":
		return options{}, errors.New("-from does not go with -only: it measures nothing")
	}
	if o.rounds == 0 {
		o.rounds = 3
		if o.quick {
			o.rounds = 1
		}
	}
	if o.docs == "" && !o.quick && o.only == "" {
		o.docs = docs
	}
	return o, nil
}

// command is how to measure the same again: the flags that matter to figures,
// not where this machine keeps its files.
func (o options) command() string {
	var flags []string
	if o.quick {
		flags = append(flags, "-quick")
	}
	if o.only != "" {
		flags = append(flags, "-only", o.only)
	}
	if o.seed != 1 {
		flags = append(flags, "-seed", strconv.FormatUint(o.seed, 10))
	}
	if o.rounds != 3 && !o.quick || o.rounds != 1 && o.quick {
		flags = append(flags, "-rounds", strconv.Itoa(o.rounds))
	}
	if len(flags) == 0 {
		return "make bench-peers"
	}
	return "make bench-peers BENCH=\"" + strings.Join(flags, " ") + "\""
}

// run measures, prints and writes. It reports whether all was as promised, as
// far as the flags ask.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (met bool, err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return false, err
	}
	began := time.Now()
	log := func(format string, args ...any) {
		// Whoever closed stderr does not want to see progress.
		_, _ = fmt.Fprintf(stderr, "%5.0fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	res, err := result(ctx, o, log)
	if err != nil {
		return false, err
	}
	doc := report.Peers{Result: res}
	if _, err := io.WriteString(stdout, doc.Markdown()); err != nil {
		return false, err
	}
	if err := write(o, res, doc, log); err != nil {
		return false, err
	}
	text, met := verdict(doc)
	_, err = io.WriteString(stdout, "\n"+text)
	return met || !o.check, err
}

// result measures, or reads what was measured before.
func result(ctx context.Context, o options, log func(string, ...any)) (*contest.Result, error) {
	if o.from != "" {
		f, err := os.Open(o.from)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // nothing was written
		return contest.Read(f)
	}
	res, err := measure(ctx, o, log)
	if err == nil {
		res.Command = o.command()
	}
	return res, err
}

// measure runs the contest on a Redis of its own.
func measure(ctx context.Context, o options, log func(string, ...any)) (res *contest.Result, err error) {
	plan := contest.Plan{Rounds: o.rounds, Quick: o.quick, Only: o.only, Seed: o.seed, Log: log, Recordings: o.recordings}
	if plan.Programs.Weir, err = filepath.Abs(o.weir); err != nil {
		return nil, err
	}
	if plan.Programs.Ratelimit, err = filepath.Abs(o.ratelimit); err != nil {
		return nil, err
	}
	version, err := peerVersion(plan.Programs.Ratelimit)
	if err != nil {
		return nil, err
	}
	if o.recordings == "" {
		if plan.Recordings, err = os.MkdirTemp("", "weir-recordings-"); err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(plan.Recordings) }() // in the system's directory for such
	} else if err := os.MkdirAll(o.recordings, 0o755); err != nil {
		return nil, err
	}
	err = redisproc.With(func(t testing.TB) (err error) {
		res, err = contest.Run(ctx, t, plan)
		return err
	})
	if err != nil {
		return nil, err
	}
	res.Peer = version
	return res, nil
}

// peerVersion is what the program was built from.
func peerVersion(path string) (string, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("look at the peer: %w (make bench-peers builds it)", err)
	}
	const module = "github.com/envoyproxy/ratelimit"
	for _, dep := range append(info.Deps, &info.Main) {
		if dep.Path == module {
			return dep.Version, nil
		}
	}
	return "", fmt.Errorf("%s is not built from %s", path, module)
}

// write writes the files that the flags ask for.
func write(o options, res *contest.Result, doc report.Peers, log func(string, ...any)) error {
	if o.json != "" {
		f, err := os.Create(o.json)
		if err != nil {
			return err
		}
		if err := res.Write(f); err != nil {
			_ = f.Close() // the first failure is the one to tell
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		log("wrote %s", o.json)
	}
	if o.docs == "" {
		return nil
	}
	files := doc.Files()
	if o.only == "" {
		if err := removePlots(o.docs, files); err != nil {
			return err
		}
	}
	for name, text := range files {
		path := filepath.Join(o.docs, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
		log("wrote %s", path)
	}
	return nil
}

// removePlots removes the plots of an earlier document that this one does not
// have: the directory is this program's.
func removePlots(docs string, keep map[string]string) error {
	old, err := filepath.Glob(filepath.Join(docs, report.Plots, "*.svg"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if _, ok := keep[report.Plots+"/"+filepath.Base(path)]; ok {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// verdict returns one line per bar, to be printed last so that it stays in
// sight, and whether all were cleared.
func verdict(doc report.Peers) (text string, met bool) {
	met = true
	for _, b := range doc.Bars() {
		text += fmt.Sprintf("%s  %s: %s\n", b.Verdict(), b.Promise, b.Measured)
		met = met && b.Met
	}
	return text, met
}
