package policy

import (
	"github.com/weirlimit/weir"
)

// The words of lease.
var leaseNames = []string{"off", "auto"}

const leaseAuto = 1

// leasable tells whether units of a limit can be taken ahead of the requests
// they are for. A leaky bucket gives each request its own moment, a log its own
// entry, and a place in progress has an owner: none is worth anything ahead.
func leasable(a weir.Algorithm) bool {
	switch a {
	case weir.GCRA, weir.TokenBucket, weir.SlidingWindow, weir.FixedWindow:
		return true
	}
	return false
}

// leastLeased is the least capacity of which something is leased: 5% of it is
// then a unit.
const leastLeased = 20

// checkLease looks at what a policy with leases cannot have.
func (d *policyDraft) checkLease(r *nativeReader) {
	if !d.Lease {
		return
	}
	if d.Shards > 0 {
		r.problem(d.leaseAt, "bad-value", "keep one of them: both make a hot counter cheap",
			"policy %s has lease and counter_shards", d.ID)
	}
	if w := d.firstLimit(func(l weir.Limit) bool { return !leasable(l.Algorithm) }); w != nil {
		r.problemAt(w.At.Line, w.At.Column, "bad-value",
			"lease gcra, sliding_window and fixed_window; put this limit into a policy of its own, or take lease out",
			"policy %s has lease, and units of %s cannot be taken ahead", d.ID, w.Limit)
	}
}

// firstLimit returns the first limit that f is true of, or nil.
func (p *NativePolicy) firstLimit(f func(weir.Limit) bool) *WrittenLimit {
	for _, limits := range append(p.allLimits(), p.Concurrency) {
		for i := range limits {
			if f(limits[i].Limit) {
				return &limits[i]
			}
		}
	}
	return nil
}

// leases tells whether units of a policy may be taken ahead: as it says, else
// as all do that can.
func (p *NativePolicy) leases(byDefault bool) bool {
	if p.LeaseSet {
		return p.Lease
	}
	return byDefault && p.Shards == 0 && p.firstLimit(func(l weir.Limit) bool { return !leasable(l.Algorithm) }) == nil
}
