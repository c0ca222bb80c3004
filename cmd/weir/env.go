package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// envAnnotation is where a flag keeps the name of its environment variable.
const envAnnotation = "weir_env"

// fromEnv lets a flag be given by an environment variable too, and says so in
// its help.
func fromEnv(flags *pflag.FlagSet, flag, variable string) {
	f := flags.Lookup(flag)
	f.Usage += " [" + variable + "]"
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[envAnnotation] = []string{variable}
}

// applyEnv sets the flags that were not given from their variables. An empty
// variable counts as unset.
func applyEnv(cmd *cobra.Command, lookup func(string) (string, bool)) error {
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		variable := f.Annotations[envAnnotation]
		if failed != nil || f.Changed || len(variable) == 0 {
			return
		}
		value, ok := lookup(variable[0])
		if !ok || value == "" {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			failed = usage("unset it, or give --"+f.Name, "environment variable %s: %q: %w", variable[0], value, err)
			return
		}
		noteSource(f, "variable "+variable[0])
	})
	return failed
}
