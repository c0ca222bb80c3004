package policy

import "github.com/weirlimit/weir"

// Most policies ask little: so much for each tenant, or for all. A plain policy
// applies to every request, and its counters are told apart by one dimension as
// it was sent, or by none. Such a one needs nothing derived from a request, and
// is charged with no more than a look at its dimensions.

// isPlain tells whether p is a plain policy.
func (p *nativePolicy) isPlain() bool {
	if len(p.where) > 0 || len(p.routes) > 0 || len(p.cost) > 0 || p.plans != nil || p.shards > 0 {
		return false
	}
	if p.limits.rates == 0 || p.limits.rates < len(p.limits.all) {
		return false
	}
	switch len(p.by) {
	case 0:
		return true
	case 1:
		return p.partition == 0 && !p.hides[0] && !derived(p.by[0]) && p.by[0] != dimRoute
	}
	return false
}

// countPlain is how many of the policies that may match any request are plain,
// up to the first that is not, or that stands behind one that the index finds:
// policies are charged in their order. With overrides none is: those have limits
// of their own.
func (d *nativeDomain) countPlain() int {
	if d.overrides != nil {
		return 0
	}
	for n, i := range d.index.general {
		if int(i) != n || !d.policies[i].isPlain() {
			return n
		}
	}
	return len(d.index.general)
}

// applyPlain charges a descriptor to a plain policy.
func (p *nativePolicy) applyPlain(plan *Plan, descriptor int, of *weir.Descriptor, cost int64) error {
	partition := p.tag
	if len(p.by) > 0 {
		if partition = valueOf(of.Pairs, p.by[0]); partition == "" {
			return p.lacks(p.by[0], false)
		}
	}
	return plan.chargePlain(p.rule, p.limits.all, descriptor, modeOf(p.rule, of.Refund, of.Spent), cost, partition)
}
