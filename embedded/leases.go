package embedded

import (
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/lease"
	"github.com/weirlimit/weir/internal/local"
	"github.com/weirlimit/weir/internal/stage"
)

// Leases says how units of hot counters are taken ahead. The zero value is
// right for most; with several programs on one store, say how many by
// WithInstances.
type Leases struct {
	// Share of a limit that all programs together may take ahead, above 0 and at
	// most 0.5; 0 is 0.05.
	Share float64
	// Refresh is how long what is taken should last, 10 to 250 ms; 0 is 100 ms.
	Refresh time.Duration
	// HotRate is how many requests a second of one counter, in this program, have
	// it leased; 0 is 50.
	HotRate float64
}

// WithLeases takes units of hot counters ahead, of policies with lease: auto, from
// the store that WithStore gives. Counters in this process's memory need none.
// See docs/local-tier.md for what that costs.
func WithLeases(l Leases) Option {
	return func(c *config) { c.leases = &l }
}

// local is the tier before a store that is not in this process's memory, or nil. told
// hears what the store answers to wishes for leases.
func (c *config) local(store weir.Store, told func(*stage.Ask)) (*local.Tier, error) {
	o := local.Options{Denials: c.denials}
	if l := c.leases; l != nil {
		o.Leases = local.LeaseOptions{
			Store: store, Told: told, Instances: c.instances, HotRate: l.HotRate,
			Config: lease.Config{Share: l.Share, Refresh: weir.MicrosOf(l.Refresh)}.Settle(),
		}
		if err := o.Leases.Config.Validate(); err != nil {
			return nil, err
		}
	}
	if o.Denials <= 0 && o.Leases.Store == nil {
		return nil, nil
	}
	return local.New(o), nil
}
