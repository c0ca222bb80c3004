package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weirlimit/weir/internal/policyfile"
	"github.com/weirlimit/weir/policy"
)

// lintFlags is what the command line of lint says.
type lintFlags struct {
	loading loadingFlags
	strict  bool
	output  string
}

func newLint(sys system) *cobra.Command {
	var f lintFlags
	cmd := &cobra.Command{
		Use:   "lint FILE|DIR...",
		Short: "Find what is wrong or doubtful in policy files",
		Long: `Lint reads policy files of either format and says what is wrong, and what is
allowed and most likely not meant: costs that no limit has room for, rules that
are never reached, limits that never bind, policies that do not say on_failure.
Variables of envoyproxy/ratelimit that say how files are read count as for weir
serve.

It exits with 1 when something is wrong, and with --strict also when something
is doubtful; else with 0.`,
		Example: `  weir lint policies/
  weir lint --strict api.yaml login.yaml
  weir lint --compat envoy -o json /srv/runtime_data/current/config`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("for example weir lint policies/", "which files?")
			}
			if slices.Contains(args, "") { // not the current directory, which is .
				return usage("for example weir lint policies/", "the name of a file is empty")
			}
			return nil
		},
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			return f.loading.applyPeer(&peerEnv{cmd: cmd, lookup: sys.lookupEnv})
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runLint(cmd.Context(), sys, &f, args)
		},
	}
	f.loading.register(cmd.Flags())
	completeWords(cmd, "compat", "envoy")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "exit with 1 on warnings, too")
	fromEnv(cmd.Flags(), "strict", "WEIR_LINT_STRICT")
	addOutput(cmd, &f.output)
	return cmd
}

func runLint(ctx context.Context, sys system, f *lintFlags, paths []string) error {
	if err := checkOutput(f.output); err != nil {
		return err
	}
	if err := f.loading.check(); err != nil {
		return err
	}
	found, err := lint(ctx, f.loading.options(paths))
	if err != nil {
		return err
	}
	if f.output == formatJSON {
		err = writeJSON(sys.out, found.json())
	} else {
		err = found.text(sys.out)
	}
	if err == nil && (found.errors > 0 || f.strict && found.warnings > 0) {
		err = exitStatus(exitError)
	}
	return err
}

// lint loads the policies as weir serve does, and looks for more.
func lint(ctx context.Context, o policyfile.Options) (*findings, error) {
	parsed := map[string]*policy.File{} // by name
	o.Parse = func(name string, data []byte) (*policy.File, []policy.Problem) {
		f, problems := policyfile.Parse(name, data, o.Compat)
		parsed[name] = f
		return f, problems
	}
	loader, err := policyfile.New(o)
	if err != nil {
		return nil, err
	}
	// That nothing can be served is told by the problems.
	if _, _, err := loader.Load(ctx); ctx.Err() != nil {
		return nil, err
	}
	_, report := loader.Current()
	out := &findings{files: len(report.Files)}
	out.add(report.All())
	var files []*policy.File
	for _, f := range report.Files {
		if file := parsed[f.Name]; file != nil {
			files = append(files, file)
		}
	}
	// A load that is given up at one file says nothing of how the others stand
	// beside each other.
	_, problems := policy.Compile(files, policy.Options{
		EnvoyCompat: o.Compat, MergeDomains: o.MergeDomains, EnvoyShadow: o.Shadow, EnvoyQuota: o.Quota,
	})
	out.add(problems)
	out.add(policy.Lint(files))
	policy.SortProblems(out.problems)
	return out, nil
}
