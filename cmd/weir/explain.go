package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/policyfile"
	"github.com/weirlimit/weir/policy"
	"github.com/weirlimit/weir/redisstore"
)

// explainFlags is what the command line of explain says.
type explainFlags struct {
	config  []string
	loading loadingFlags
	subject subjectFlags
	timeout time.Duration
	output  string
	redis   redisFlags
	salt    saltFlags
	lease   leaseDefault
}

func newExplain(sys system) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Say which rules a request meets, and why",
		Long: `Explain reads policies as weir serve does and says what becomes of a request:
which rules apply, which nearly do and what keeps them from it, which counters
it is charged to. With --redis it also tells what is in use of each.

Variables of envoyproxy/ratelimit that say where policies and counters are, and
how files are read, count as for weir serve.

It asks no server and charges nothing. It exits with 1 for a request that would be
answered with an error.`,
		Example: `  weir explain --config policies/ --dimension tenant=acme,path=/v1/orders
  weir explain --config config.yaml --domain api --descriptor tenant=acme,path=/login
  weir explain --config policies/ --dimension tenant=acme --redis 127.0.0.1:6379 -o json`,
		Args: noArgs("config"),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.applyPeer(&peerEnv{cmd: cmd, lookup: sys.lookupEnv}); err != nil {
				return err
			}
			return f.redis.checkIdle(cmd.Flags())
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runExplain(cmd.Context(), sys, &f)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.config, "config", nil, "policy `file` or directory; repeat it for several")
	fromEnv(flags, "config", "WEIR_CONFIG")
	f.loading.register(flags)
	completeWords(cmd, "compat", "envoy")
	f.subject.register(flags, "WEIR_EXPLAIN_")
	flags.DurationVar(&f.timeout, "timeout", time.Second, "longest to wait for the store")
	fromEnv(flags, "timeout", "WEIR_EXPLAIN_TIMEOUT")
	addOutput(cmd, &f.output)
	f.redis.register(flags)
	f.salt.register(flags)
	f.lease.register(flags)
	return cmd
}

// applyPeer reads what envoyproxy/ratelimit's variables say, as weir serve does.
func (f *explainFlags) applyPeer(e *peerEnv) error {
	if err := e.config(); err != nil {
		return err
	}
	if err := f.loading.applyPeer(e); err != nil {
		return err
	}
	return f.redis.applyPeer(e)
}

func runExplain(ctx context.Context, sys system, f *explainFlags) error {
	s, err := f.subject.parse()
	if err != nil {
		return err
	}
	if err := checkOutput(f.output); err != nil {
		return err
	}
	if f.timeout <= 0 {
		return usage("for example 1s", "--timeout: %s is not above 0", f.timeout)
	}
	set, err := f.load(ctx)
	if err != nil {
		return err
	}
	ring, err := f.salt.read()
	if err != nil {
		return err
	}
	out := explained{Explanation: policy.ExplainBy(set, &s.Request, &policy.Plan{Now: weir.MicrosAt(time.Now()), Ring: ring})}
	if out.Format == "none" {
		out.Domains = domainsOf(set)
	}
	if f.redis.addrs != "" {
		if err := f.look(ctx, sys, &out); err != nil {
			return err
		}
	}
	if f.output == formatJSON {
		err = writeJSON(sys.out, out)
	} else {
		err = out.text(sys.out)
	}
	if err == nil && out.Error != "" { // the request cannot be answered; why is among the results
		err = exitStatus(exitError)
	}
	return err
}

// load reads the policies. It is stricter than weir serve, which goes on with
// what is good: an explanation by half of the rules would be wrong.
func (f *explainFlags) load(ctx context.Context) (*policy.Set, error) {
	if len(f.config) == 0 {
		return nil, usage("for example --config policies/", "--config: which policies?")
	}
	if err := checkConfig(f.config); err != nil {
		return nil, err
	}
	if err := f.loading.check(); err != nil {
		return nil, err
	}
	leased, err := f.lease.auto()
	if err != nil {
		return nil, err
	}
	o := f.loading.options(f.config)
	o.Private, o.Lease = f.salt.private, leased
	loader, err := policyfile.New(o)
	if err != nil {
		return nil, err
	}
	set, report, err := loader.Load(ctx)
	if err == nil && report.OK() {
		return set, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var wrong []string
	for _, p := range report.All() {
		if !p.Warning {
			wrong = append(wrong, p.String())
		}
	}
	if len(wrong) == 0 { // a load that failed has a problem; do not rely on it
		return nil, errors.Join(err, errors.New("the policies cannot be loaded"))
	}
	return nil, errors.New(strings.Join(wrong, "\n"))
}

// look reads what is in use of each charge.
func (f *explainFlags) look(ctx context.Context, sys system, out *explained) (err error) {
	o, err := f.redis.options(peerPassword(sys.lookupEnv))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	store, err := redisstore.New(ctx, o)
	if err != nil {
		return connectError(o.Addrs, err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	name := "redis at " + strings.Join(o.Addrs, ", ")
	out.Store, out.State = name, []counterState{}
	for _, c := range out.Charges {
		o, err := readCharge(ctx, store, &c)
		if err != nil {
			return &weir.Error{Message: "read " + c.Rule + " from " + name, Err: err}
		}
		out.State = append(out.State, counterState{
			Rule: c.Rule, Limit: c.Limit, Key: c.Key,
			Used: o.Before.Used, Remaining: o.Remaining, ResetAfter: o.ResetAfter,
		})
	}
	return nil
}

// readCharge looks at a charge's counter, and at all of one that is split.
func readCharge(ctx context.Context, store weir.Store, c *policy.ExplainedCharge) (weir.Outcome, error) {
	var whole weir.Outcome
	look := weir.Charge{Key: c.Key, Twin: c.Twin, Twinning: c.Twinning, Meter: c.Meter, Mode: weir.Peek}
	for _, part := range policy.SubCharges(&look, c.Parts) {
		o, err := readCounter(ctx, store, &part)
		if err != nil {
			return weir.Outcome{}, err
		}
		policy.AddPart(&whole, o)
	}
	return whole, nil
}

// readCounter looks at a counter, under whichever of its names it is.
func readCounter(ctx context.Context, store weir.Store, c *weir.Charge) (weir.Outcome, error) {
	if c.Twin == "" {
		return store.Read(ctx, c.Key, c.Meter)
	}
	b := weir.Batch{Entries: []weir.Entry{{Charges: []weir.Charge{*c}}}}
	store.Decide(ctx, &b)
	if err := b.Entries[0].Err; err != nil {
		return weir.Outcome{}, err
	}
	return b.Entries[0].Outcomes[0], nil
}
