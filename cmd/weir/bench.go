package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/bench"
)

func newBench(sys system) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Load a server and measure it",
		Long: `Bench sends requests to one address, for 2 s of warm-up (none with --requests) and
10 s unless told otherwise, and tells how many were decided a second, how long they took, and how
much processor time the processes of --pid used for each.

With --rate it asks so often, whatever is answered, and counts from the instant
at which a request was due: a server that stalls is charged with all that came
meanwhile (an open loop, corrected for coordinated omission). Without, each of
--callers asks again when it is answered (a closed loop): that finds the most
that a server does, and flatters its latencies.

Requests are charged like any other. It needs policies of the domain "bench" for
the names k1 to k5, or --domain and --names of yours. An address that is not
loopback needs --i-own-it. It exits with 1 when nothing was decided, more than 1%
of the requests failed, the server did not answer any more at the end, or a
decision was not as --expect says.`,
		Example: `  weir bench --pid server=$(pgrep -x weir)
  weir bench --rate 8000 --dist zipf --keys 100000 --record requests.txt
  weir bench --from requests.txt --addr 127.0.0.1:9081 -o json
  weir bench --api stream --descriptors 3 --callers 256
  weir bench --dist hot --hits 1000 --expect deny`,
		Args: noArgs("addr"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range benchMakesUp {
				if cmd.Flags().Changed(name) {
					f.madeUp = append(f.madeUp, name)
				}
			}
			if f.requests > 0 && !cmd.Flags().Changed("warmup") {
				f.warmup = 0 // who asks for so many wants to see them
			}
			return runBench(cmd.Context(), sys, &f)
		},
	}
	f.register(cmd.Flags())
	addOutput(cmd, &f.output)
	completeWords(cmd, "api", "rls", "native", "stream", "http")
	completeWords(cmd, "dist", benchDists...)
	completeWords(cmd, "expect", benchExpects...)
	return cmd
}

func runBench(ctx context.Context, sys system, f *benchFlags) (err error) {
	if err := checkOutput(f.output); err != nil {
		return err
	}
	p, err := f.plan()
	if err != nil {
		return err
	}
	if f.from != "" {
		if p.Requests, err = readList(f.from); err != nil {
			return err
		}
	}
	var record *os.File // made before, so that a run is not in vain
	if f.record != "" {
		if record, err = os.Create(f.record); err != nil {
			return fmt.Errorf("--record: %w", err)
		}
		defer func() { err = errors.Join(err, record.Close()) }()
	}
	if !f.quiet {
		p.Progress = func(g bench.Progress) { benchProgress(sys.err, g) }
	}
	if p.Rate > 0 { // one more for the thread that keeps the time, and mostly sleeps
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1))
	}
	result, err := bench.Run(ctx, *p)
	if result == nil {
		return benchFailed(p, f, err)
	}
	recorded := 0
	if record != nil {
		var failed error
		recorded, failed = bench.Record(record, p.Requests, result.Numbers)
		err = errors.Join(err, failed)
	}
	return errors.Join(err, benchReport(sys.out, f, result, recorded), f.verdict(result))
}

func readList(path string) (bench.Requests, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	l, err := bench.ReadList(file)
	if err != nil {
		return nil, fmt.Errorf("--from %s: %w", path, err)
	}
	return l, nil
}

// benchFailed says why nothing could be sent.
func benchFailed(p *bench.Plan, f *benchFlags, err error) error {
	if _, ours := errors.AsType[*weir.Error](err); ours || err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	hint := f.tls.hint(err.Error())
	if hint == "" {
		hint = dialHint(err)
	}
	return &weir.Error{Message: "bench " + p.Addr, Err: err, Hint: hint}
}

// maxFailed is the share of requests without a decision beyond which the rest
// says little of the server.
const maxFailed = 0.01

// verdict is the exit code, once the result was printed.
func (f *benchFlags) verdict(r *bench.Result) error {
	failed := r.Failures()
	sent := r.Decided() + failed
	switch {
	case sent == 0 && r.Plan.Most > 0 && r.Numbers >= r.Plan.Most:
		return &weir.Error{
			Message: fmt.Sprintf("nothing was measured: all of --requests %d were sent in the warm-up", r.Plan.Most),
			Hint:    "shorten --warmup, or give more --requests",
		}
	case sent == 0:
		return &weir.Error{
			Message: "nothing was measured: nothing was sent after the warm-up",
			Hint:    "did the server answer? see --addr and --api",
		}
	case r.Decided() == 0:
		return &weir.Error{Message: "nothing was decided", Hint: "see the failures above, --addr and --api"}
	case r.Gone:
		return &weir.Error{
			Message: fmt.Sprintf("the server did not answer any more at the end: %d of %d requests failed", failed, sent),
			Hint:    "did it end, or stand still? see the failures above and its log; figures are of the time before",
		}
	case float64(failed) > maxFailed*float64(sent):
		return &weir.Error{
			Message: fmt.Sprintf("%d of %d requests failed, more than %g%%", failed, sent, maxFailed*100),
			Hint:    "see the failures above; with a timeout or unsent, ask for less with --rate or --callers",
		}
	case f.expect == "allow" && r.Denied > 0:
		return fmt.Errorf("--expect allow: %d of %d were denied", r.Denied, r.Decided())
	case f.expect == "deny" && r.Allowed > 0:
		return fmt.Errorf("--expect deny: %d of %d were allowed", r.Allowed, r.Decided())
	}
	return nil
}

// benchProgress writes a line on how it goes.
func benchProgress(w io.Writer, g bench.Progress) {
	what := "measuring"
	if g.Warming {
		what = "warming up"
	}
	_, _ = fmt.Fprintf(w, "weir: %4s  %s  %.0f/s  %d answered, %d failed\n",
		g.At.Round(time.Second), what, g.Rate, g.Answered, g.Failed)
}
