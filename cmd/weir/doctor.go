package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/doctor"
	"github.com/weirlimit/weir/redisstore"
)

// doctorFlags is what the command line of doctor says.
type doctorFlags struct {
	serve   serveFlags // those that doctor shows, and what --settings may hold besides
	timeout time.Duration
	strict  bool
	output  string
}

// shownByDoctor are the flags of serve that doctor has too.
var shownByDoctor = append([]string{settingsFlag, "deadline"}, redisNames...)

func newDoctor(sys system) *cobra.Command {
	var f doctorFlags
	serve := &cobra.Command{Use: "serve"} // the flags that a file of settings may set
	f.serve.register(serve.Flags())
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what to change about a Redis before counting in it",
		Long: `Doctor looks at the Redis that weir serve would use, as the user it would be:
version, role, eviction, memory, persistence, replication, a cluster's or the
sentinels' arrangement, latency, clocks, and whether the ACL allows what Weir
does. For each it says what it saw and, if need be, what to change. What needs
a command that is forbidden, as CONFIG often is, it takes from INFO, or says
that it is unknown.

It changes no data. It exits with 1 when something must change, and with
--strict also when something should or could not be seen; else with 0.`,
		Example: `  weir doctor --redis 127.0.0.1:6379
  weir doctor --redis 10.0.0.1:7000,10.0.0.2:7000 --deadline 5ms
  weir doctor --redis 10.0.0.1:26379,10.0.0.2:26379 --redis-master weir -o json
  weir doctor --settings weir.yaml --strict`,
		Args: noArgs("redis"),
		PreRunE: func(*cobra.Command, []string) error {
			if err := applySettings(serve, f.serve.settings); err != nil {
				return err
			}
			return f.serve.applyPeerEnv(serve, sys.lookupEnv)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDoctor(cmd.Context(), sys, &f)
		},
	}
	flags := cmd.Flags()
	for _, name := range shownByDoctor {
		flags.AddFlag(serve.Flags().Lookup(name))
	}
	flags.DurationVar(&f.timeout, "timeout", 3*time.Second, "longest to wait for a connection or an answer")
	fromEnv(flags, "timeout", "WEIR_DOCTOR_TIMEOUT")
	flags.BoolVar(&f.strict, "strict", false, "exit with 1 on warnings and on what is unknown, too")
	fromEnv(flags, "strict", "WEIR_DOCTOR_STRICT")
	addOutput(cmd, &f.output)
	return cmd
}

func runDoctor(ctx context.Context, sys system, f *doctorFlags) error {
	o, err := f.options(sys)
	if err != nil {
		return err
	}
	p := newProgress(sys.err)
	facts, err := redisstore.Inspect(ctx, o, redisstore.Inspection{Step: p.step})
	p.end()
	if err != nil {
		return err
	}
	tellPassword(facts)
	d := diagnosis{findings: doctor.Judge(facts)}
	if f.output == formatJSON {
		err = writeJSON(sys.out, d.json())
	} else {
		err = d.text(sys.out)
	}
	worst := doctor.Worst(d.findings)
	if err == nil && (worst == doctor.Fail || f.strict && worst != doctor.OK) {
		err = exitStatus(exitError)
	}
	return err
}

func (f *doctorFlags) options(sys system) (o redisstore.Options, err error) {
	if err := checkOutput(f.output); err != nil {
		return o, err
	}
	switch {
	case f.serve.redis.addrs == "":
		return o, usage("for example --redis 127.0.0.1:6379", "--redis: which Redis?")
	case f.timeout <= 0:
		return o, usage("for example 3s", "--timeout: %s is not above 0", f.timeout)
	}
	if err := checkDeadline(f.serve.deadline); err != nil {
		return o, err
	}
	if o, err = f.serve.redis.options(peerPassword(sys.lookupEnv)); err != nil {
		return o, err
	}
	o.Deadline, o.ConnTimeout = f.serve.deadline, f.timeout
	return o, nil
}

// tellPassword says how this program is given credentials, where those are what
// is wrong.
func tellPassword(f *doctor.Facts) {
	tell := func(e *weir.Error, hint string) *weir.Error {
		if e == nil || e.Code != weir.CodeNoAuth {
			return e
		}
		told := *e
		told.Hint = hint
		return &told
	}
	sentinel := strings.ReplaceAll(passwordHint, "WEIR_REDIS_", "WEIR_REDIS_SENTINEL_")
	f.Err = tell(f.Err, passwordHint)
	for i := range f.Nodes {
		f.Nodes[i].Err = tell(f.Nodes[i].Err, passwordHint)
	}
	for i := range f.Sentinels {
		f.Sentinels[i].Err = tell(f.Sentinels[i].Err, sentinel)
	}
}
