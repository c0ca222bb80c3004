package main

import (
	"github.com/spf13/pflag"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/local"
)

// localFlags say what is answered without the store.
type localFlags struct {
	denyCache int
}

// maxDenyCache keeps a slip of the hand from taking gigabytes.
const maxDenyCache = 10_000_000

func (f *localFlags) register(flags *pflag.FlagSet) {
	flags.IntVar(&f.denyCache, "deny-cache", local.DefaultDenials,
		"with --redis, `number` of used-up counters that are denied without asking it, each for a second at most; 0 for none")
	fromEnv(flags, "deny-cache", "WEIR_DENY_CACHE")
}

func (f *localFlags) validate() error {
	if f.denyCache < 0 || f.denyCache > maxDenyCache {
		return usage("use 0 for none", "--deny-cache: %d is not from 0 to %d", f.denyCache, maxDenyCache)
	}
	return nil
}

// addLocal puts the local tier before the store. Counters in memory are as near
// as it is.
func (s *server) addLocal(o *engine.Options) error {
	f := &s.flags.local
	if err := f.validate(); err != nil {
		return err
	}
	leases, err := s.flags.lease.options(o.Store, s.instances)
	if err != nil {
		return err
	}
	o.Leases, o.NoLeases = leases.Config, leases.Watch
	if s.flags.redis.addrs == "" {
		return nil
	}
	leases.Told = s.standby.backstop.Learn
	tier := local.New(local.Options{Denials: f.denyCache, Leases: leases})
	s.tier = tier
	s.showLeases()
	s.metrics.DenyCache(func() int { return tier.Stats().Denials })
	o.Local = tier
	return nil
}
