package policy

import "github.com/weirlimit/weir"

// Relax takes the power to deny from the rules that f names: their charges are
// made in shadow, and how a request fails is left to the other rules. f is asked
// once per use of a rule.
func (p *Plan) Relax(f func(*Rule) bool) {
	p.Fail, p.Deadline = FailOpen, 0
	held := uint64(0) // by a rule that is not named; a bit per charge, of which there are at most 64
	relaxed := uint64(0)
	for i := range p.Uses {
		u := &p.Uses[i]
		if f(u.Rule) {
			relaxed |= 1 << u.Charge
			continue
		}
		held |= 1 << u.Charge
		p.tighten(u.Rule)
	}
	for i := range p.Charges {
		c := &p.Charges[i]
		if relaxed&^held&(1<<i) != 0 && (c.Mode == weir.Enforce || c.Mode == weir.Always || c.Mode == weir.Peek) {
			c.Mode, c.Group = weir.Shadow, 0
		}
	}
	for i := range p.Descriptors {
		if m := &p.Descriptors[i]; m.Denies != nil && f(m.Rule) {
			m.Denies = nil
		}
	}
}
