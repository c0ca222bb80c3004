package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirlimit/weir/internal/admin"
)

// switchFlags is what the command lines of switch say.
type switchFlags struct {
	nodes          []string
	domain, policy string
	who, why       string
	span           time.Duration
	timeout        time.Duration
	output         string
	tls            clientTLSFlags
}

func newSwitch(sys system) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "switch",
		Short: "Force requests through, past their limits, for a while",
		Long: `Switch tells running servers to let everything through, or what one policy
limits: for when limits do more harm than good. It speaks to the admin listener of
each --node, works while Redis is away, and ends by itself. What is forced is in the
servers' logs with who and why, in weir_switch_forced and in /readyz.

A server that is restarted has forgotten it: look with weir switch status. A node
that cannot be told is said to have failed, and makes the exit code 1; the others
are told all the same.`,
		Args: aCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSwitchOn(sys), newSwitchOff(sys), newSwitchStatus(sys))
	return cmd
}

func newSwitchOn(sys system) *cobra.Command {
	var f switchFlags
	cmd := &cobra.Command{
		Use:   "on",
		Short: "Let everything through, or what one policy limits",
		Example: `  weir switch on --node 10.0.0.1:6070 --node 10.0.0.2:6070 --why "incident 7"
  weir switch on --policy logins --why "limits were cut by mistake" --for 30m`,
		Args: noArgs("node"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.span <= 0 {
				return usage("for example 30m", "--for: %s is not above 0", f.span)
			}
			o := f.order(sys, true)
			o.For = f.span.String()
			return f.run(cmd.Context(), sys, &o)
		},
	}
	f.register(cmd)
	f.registerOrder(cmd.Flags())
	cmd.Flags().DurationVar(&f.span, "for", time.Hour, "how long, 24h at most")
	fromEnv(cmd.Flags(), "for", "WEIR_SWITCH_FOR")
	return cmd
}

func newSwitchOff(sys system) *cobra.Command {
	var f switchFlags
	cmd := &cobra.Command{
		Use:   "off",
		Short: "Apply limits again; without --policy, all",
		Args:  noArgs("node"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := f.order(sys, false)
			return f.run(cmd.Context(), sys, &o)
		},
	}
	f.register(cmd)
	f.registerOrder(cmd.Flags())
	return cmd
}

func newSwitchStatus(sys system) *cobra.Command {
	var f switchFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what is forced",
		Args:  noArgs("node"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), sys, nil)
		},
	}
	f.register(cmd)
	return cmd
}

// register adds what all of them have.
func (f *switchFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.nodes, "node", []string{"127.0.0.1:6070"}, "admin `address` of a server; with commas or repeated for several")
	flags.DurationVar(&f.timeout, "timeout", 2*time.Second, "longest to wait for each node")
	fromEnv(flags, "node", "WEIR_SWITCH_NODE")
	fromEnv(flags, "timeout", "WEIR_SWITCH_TIMEOUT")
	f.tls.register(flags, "WEIR_SWITCH_")
	for _, name := range []string{"tls", "tls-server-name"} {
		fl := flags.Lookup(name)
		fl.Usage = strings.ReplaceAll(fl.Usage, "--addr", "--node")
	}
	addOutput(cmd, &f.output)
}

// registerOrder adds what those have that change something.
func (f *switchFlags) registerOrder(flags *pflag.FlagSet) {
	flags.StringVar(&f.domain, "domain", "", "the policy's `domain`; default where it is not said")
	flags.StringVar(&f.policy, "policy", "", "one policy's `id`, as /rlconfig has it; everything where it is not said")
	flags.StringVar(&f.who, "who", "", "`name` of who orders it, for the log; $USER where it is not said")
	flags.StringVar(&f.why, "why", "", "`reason`, for the log")
	for _, name := range []string{"domain", "policy", "who", "why"} {
		fromEnv(flags, name, "WEIR_SWITCH_"+strings.ToUpper(name))
	}
}

// order is what the flags ask for.
func (f *switchFlags) order(sys system, on bool) admin.SwitchOrder {
	for _, name := range []string{"USER", "LOGNAME"} {
		if f.who == "" {
			f.who, _ = sys.lookupEnv(name)
		}
	}
	o := admin.SwitchOrder{Scope: admin.ScopeAll, Domain: f.domain, Policy: f.policy, On: on, Who: f.who, Why: f.why}
	if f.policy != "" {
		o.Scope = admin.ScopePolicy
	}
	return o
}

// run tells all nodes, or asks them where there is no order, and says what
// became of each.
func (f *switchFlags) run(ctx context.Context, sys system, order *admin.SwitchOrder) error {
	if err := f.check(order); err != nil {
		return err
	}
	nodes, err := f.parseNodes()
	if err != nil {
		return err
	}
	client, err := f.client()
	if err != nil {
		return err
	}
	answers := fanOut(ctx, client, nodes, order)
	if f.output == formatJSON {
		err = writeJSON(sys.out, answers)
	} else {
		err = writeTable(sys.out, switchRows(answers))
	}
	for i := range answers {
		if err == nil && !answers[i].OK {
			err = exitStatus(exitError)
		}
	}
	return err
}

func (f *switchFlags) check(order *admin.SwitchOrder) error {
	if err := checkOutput(f.output); err != nil {
		return err
	}
	switch {
	case f.timeout <= 0:
		return usage("for example 2s", "--timeout: %s is not above 0", f.timeout)
	case order == nil:
		return nil
	case order.Policy == "" && order.Domain != "":
		return usage("name one of its policies with --policy, or leave it out for everything", "--domain: a domain is not forced as a whole")
	case order.Who == "":
		return usage("say who you are with --who", "--who is missing: $USER says nothing")
	case order.On && order.Why == "":
		return usage(`for example --why "incident 7"`, "--why is missing")
	}
	return nil
}
