package policy

import "github.com/weirlimit/weir"

// Relax takes the power to deny from the rules that f names: their charges are
// made in shadow, and how a request fails is left to the other rules. f is asked
// once per use of a rule. Quotas deny when none of them has room, so with one of
// them named none denies.
func (p *Plan) Relax(f func(*Rule) bool) {
	p.Lasting = false
	held := uint64(0) // by a rule that is not named; a bit per charge, of which there are at most 64
	relaxed := uint64(0)
	for i := range p.Uses {
		if u := &p.Uses[i]; f(u.Rule) {
			relaxed |= 1 << u.Charge
		} else {
			held |= 1 << u.Charge
		}
	}
	relaxed &^= held
	quotas := false
	for i := range p.Descriptors {
		if m := &p.Descriptors[i]; m.Denies != nil && f(m.Rule) {
			m.Denies = nil
			quotas = quotas || m.Rule.Quota && m.Rule.Mode != weir.Shadow
		}
	}
	for i := range p.Charges {
		quotas = quotas || relaxed&(1<<i) != 0 && p.Charges[i].Group == quotaGroup
	}
	if quotas {
		relaxed |= p.relaxQuotas()
	}
	for i := range p.Charges {
		c := &p.Charges[i]
		if relaxed&(1<<i) != 0 && (c.Mode == weir.Enforce || c.Mode == weir.Always || c.Mode == weir.Peek) {
			c.Mode, c.Group = weir.Shadow, 0
		}
	}
	p.Fail, p.Deadline = FailOpen, 0
	for i := range p.Uses {
		if u := &p.Uses[i]; relaxed&(1<<u.Charge) == 0 {
			p.tighten(u.Rule)
		}
	}
}

// relaxQuotas takes the power to deny from limits of 0 that are quotas, and
// returns the charges of the others.
func (p *Plan) relaxQuotas() (charges uint64) {
	for i := range p.Descriptors {
		if m := &p.Descriptors[i]; m.Denies != nil && m.Rule.Quota {
			m.Denies = nil
		}
	}
	for i := range p.Charges {
		if p.Charges[i].Group == quotaGroup {
			charges |= 1 << i
		}
	}
	return charges
}
