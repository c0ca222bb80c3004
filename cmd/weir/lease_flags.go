package main

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/admin"
	"github.com/weirlimit/weir/internal/lease"
	"github.com/weirlimit/weir/internal/local"
	"github.com/weirlimit/weir/internal/obs"
)

// leaseFlags say how units of hot keys are taken ahead.
type leaseFlags struct {
	leaseDefault
	share   float64
	refresh time.Duration
	hotRate float64
}

// maxHotRate is above what one key can come to.
const maxHotRate = 1e9

func (f *leaseFlags) register(flags *pflag.FlagSet) {
	f.leaseDefault.register(flags)
	flags.Float64Var(&f.share, "lease-share", lease.DefaultShare,
		"with --redis, `share` of a limit that all instances together may take ahead, for policies with lease: auto; 0 for none")
	flags.DurationVar(&f.refresh, "lease-refresh", lease.DefaultRefresh.Duration(), "how long what is taken ahead should last")
	flags.Float64Var(&f.hotRate, "hot-key-rate", local.DefaultHotRate, "`requests` a second of one counter, at one instance, that make it hot and have it leased")
	for _, name := range []string{"lease-share", "lease-refresh", "hot-key-rate"} {
		fromEnv(flags, name, "WEIR_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	}
}

// options are those of a tier before a store.
func (f *leaseFlags) options(store weir.Store, instances func() int) (local.LeaseOptions, error) {
	o := local.LeaseOptions{Store: store, Instances: instances, HotRate: f.hotRate, Watch: f.share == 0}
	if !(f.share >= 0 && f.share <= lease.MaxShare) {
		return o, usage("0.05 is a twentieth of each limit, 0 takes nothing ahead", "--lease-share: %v is not from 0 to %v", f.share, lease.MaxShare)
	}
	if !o.Watch {
		o.Config = lease.Config{Share: f.share, Refresh: weir.MicrosOf(f.refresh)}
		if err := o.Config.Validate(); err != nil {
			if e, ok := errors.AsType[*weir.Error](err); ok {
				err = usage(e.Hint, "--lease-%s: %s", e.Field, e.Message)
			}
			return o, err
		}
	}
	if !(f.hotRate >= 1 && f.hotRate <= maxHotRate) {
		return o, usage("50 suits most", "--hot-key-rate: %v is not from 1 to %.0f", f.hotRate, float64(maxHotRate))
	}
	return o, nil
}

// showLeases has the tier's leases in the metrics.
func (s *server) showLeases() {
	s.metrics.Leases(func() obs.Leases {
		l, _ := s.tier.LeaseStats()
		return obs.Leases(l)
	})
}

// hotKeys are for /hotkeys.
func (s *server) hotKeys(n int) []admin.HotKey {
	if s.tier == nil {
		return nil
	}
	var keys []admin.HotKey
	for _, k := range s.tier.HotKeys(n) {
		keys = append(keys, admin.HotKey(k))
	}
	return keys
}
