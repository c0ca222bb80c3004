package main

import (
	"github.com/spf13/pflag"

	"github.com/weirlimit/weir/internal/policyfile"
)

// loadingFlags say how policy files are read, by weir serve and by the commands
// that tell what it would make of them.
type loadingFlags struct {
	compat string
	merge  bool

	// What envoyproxy/ratelimit's variables say and no flag does.
	shadow, quota bool // of every Envoy rule
	dotFiles      bool
}

func (f *loadingFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.compat, "compat", "", "count and load as another program does: `envoy`")
	flags.BoolVar(&f.merge, "merge-domains", false, "let several Envoy files share a domain")
	fromEnv(flags, "compat", "WEIR_COMPAT")
	fromEnv(flags, "merge-domains", "WEIR_MERGE_DOMAINS")
}

func (f *loadingFlags) check() error {
	if f.compat != "" && f.compat != "envoy" {
		return usage("use envoy, or leave it out", "--compat: unknown program %q", f.compat)
	}
	return nil
}

func (f *loadingFlags) options(paths []string) policyfile.Options {
	return policyfile.Options{
		Paths: paths, Compat: f.compat == "envoy", MergeDomains: f.merge,
		Shadow: f.shadow, Quota: f.quota, DotFiles: f.dotFiles,
	}
}
