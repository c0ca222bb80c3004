package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/limiter"
)

// tryFlags is what the command line of try says.
type tryFlags struct {
	limits  []string
	key     string
	cost    int64
	count   int
	rate    string
	wait    time.Duration
	timeout time.Duration
	output  string
	redis   redisFlags
}

func newTry(sys system) *cobra.Command {
	var f tryFlags
	cmd := &cobra.Command{
		Use:   "try",
		Short: "Decide on a limit and watch what happens",
		Long: `Try sends requests to a limit, one after the other, and shows what was decided
on each. When the last is denied it waits for as long as it was told to, and
shows that the next one passes.

Counters live in memory, or with --redis in Redis, where another weir try with
the same key shares them.`,
		Example: `  weir try
  weir try --limit "100/s burst 200" --limit 1000/m --cost 10
  weir try --limit 20/s --rate 30/s --count 60
  weir try --limit "5 concurrency 30s"
  weir try --redis 127.0.0.1:6379 -o json`,
		Args:    noArgs("limit"),
		PreRunE: func(cmd *cobra.Command, _ []string) error { return f.redis.checkIdle(cmd.Flags()) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runTry(cmd.Context(), sys, &f)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.limits, "limit", []string{"5/s burst 10"},
		"hold this `limit`, such as 100/s or \"100/s burst 200\"; for several, repeat it or use commas")
	flags.StringVar(&f.key, "key", "tenant-42", "charge the counters of this `key`")
	flags.Int64Var(&f.cost, "cost", 1, "`units` per request; 0 only looks")
	flags.IntVar(&f.count, "count", 0, "`requests` to send; 0 goes on until two in a row are denied")
	flags.StringVar(&f.rate, "rate", "", "how fast to send: a `rate` such as 50/s; as fast as possible if empty")
	flags.DurationVar(&f.wait, "wait", 2*time.Second, "longest retry-after to wait for, once; 0 waits for none")
	flags.DurationVar(&f.timeout, "timeout", time.Second, "longest a decision may take")
	flags.StringVarP(&f.output, "output", "o", "table", "output `format`: table, or json for a line per request")
	for _, name := range []string{"limit", "key", "cost", "count", "rate", "wait", "timeout"} {
		fromEnv(flags, name, "WEIR_TRY_"+strings.ToUpper(name))
	}
	fromEnv(flags, "output", "WEIR_OUTPUT")
	f.redis.register(flags)
	return cmd
}

func runTry(ctx context.Context, sys system, f *tryFlags) (err error) {
	t, err := f.parse()
	if err != nil {
		return err
	}
	show, err := newPrinter(sys.out, f.output)
	if err != nil {
		return err
	}
	store, where, err := f.redis.open(ctx, sys.lookupEnv, f.timeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	lim, err := limiter.New(store, "try", t.limits...)
	if err != nil {
		return usage("", "--limit: %w", err)
	}
	t.lim = lim.WithTimeout(f.timeout)
	return t.run(ctx, show, where)
}

// parse turns the flags into a trial, without its limiter.
func (f *tryFlags) parse() (*trial, error) {
	t := &trial{key: f.key, cost: f.cost, count: f.count, maxWait: f.wait}
	for _, text := range strings.Split(strings.Join(f.limits, ","), ",") {
		l, err := weir.ParseLimit(text)
		if err != nil {
			return nil, usage("", "--limit %q: %w", text, err)
		}
		t.limits = append(t.limits, l)
	}
	switch {
	case f.key == "":
		return nil, usage("for example --key tenant-42", "--key: is empty")
	case f.cost < 0:
		return nil, usage("use 0 to look without charging", "--cost: %d is below 0", f.cost)
	case f.count < 0:
		return nil, usage("use 0 to go on until denied", "--count: %d is below 0", f.count)
	case f.wait < 0:
		return nil, usage("use 0 not to wait", "--wait: %s is below 0", f.wait)
	case f.timeout <= 0:
		return nil, usage("for example 1s", "--timeout: %s is not above 0", f.timeout)
	}
	var err error
	t.pace, err = parsePace(f.rate)
	return t, err
}

// parsePace returns the time between two requests, 0 for none.
func parsePace(rate string) (time.Duration, error) {
	if rate == "" {
		return 0, nil
	}
	l, err := weir.ParseLimit(rate)
	if err != nil {
		return 0, usage("", "--rate %q: %w", rate, err)
	}
	if l != (weir.Limit{Algorithm: weir.SlidingWindow, Count: l.Count, Window: l.Window}) {
		return 0, usage("for example 50/s", "--rate %q: is more than a count and a window", rate)
	}
	return l.Window.Duration() / time.Duration(l.Count), nil
}

// holds tells whether one of the limits is of concurrency, so that requests
// need ids.
func (t *trial) holds() bool {
	return slices.ContainsFunc(t.limits, func(l weir.Limit) bool { return l.Algorithm == weir.Concurrency })
}

// limitTexts writes the limits as --limit reads them.
func (t *trial) limitTexts() string {
	var texts []string
	for _, l := range t.limits {
		texts = append(texts, fmt.Sprint(l))
	}
	return strings.Join(texts, ", ")
}
