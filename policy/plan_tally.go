package policy

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// In Envoy compatibility every hit of every rule counts, whatever fits and
// whoever denies. For a store that is weir.Always. Three things are left, which
// no mode says; a plan that has any of them is Tallied:
//
//	a rule in shadow                   counts as Always, and denies nothing
//	descriptors that share a counter   count one after the other, each is told its own
//	a cost of 0                        is over where the counter is past its limit
//
// Nothing of such a plan is charged or not by the verdict: it may be made after
// the charges.

// tally notes what a charge of r makes of the plan; fresh tells that no
// descriptor before it uses the counter.
func (p *Plan) tally(r *Rule, fresh bool, cost int64) {
	if r.CountsAll && (!fresh || cost == 0 || r.Mode == weir.Shadow) {
		p.Tallied = true
	}
}

// watches tells whether r is in shadow and counts everything.
func (r *Rule) watches() bool { return r.CountsAll && r.Mode == weir.Shadow }

// Shade makes charges of rules in shadow what they are for everybody but a
// store.
func (p *Plan) Shade() {
	for i := range p.Uses {
		if c := &p.Charges[p.Uses[i].Charge]; p.Uses[i].Rule.watches() && c.Mode == weir.Always {
			c.Mode = weir.Shadow
		}
	}
}

// Judge decides a tallied plan again: e is its charges, as a store answered.
func (p *Plan) Judge(e *weir.Entry) {
	p.Shade()
	for i := range e.Charges {
		c, o := &e.Charges[i], &e.Outcomes[i]
		if c.Cost != 0 || c.Meter.Machine != weir.Window || c.Mode == weir.Refund {
			continue
		}
		o.ResetAfter = c.Meter.Limit.Window - e.Now%c.Meter.Limit.Window
		if o.Before.Used > c.Meter.Capacity {
			o.OK, o.RetryAfter = false, o.ResetAfter
		}
	}
	p.judgeUses(e)
	e.Admitted = algo.Passes(e.Charges, e.Outcomes)
}

// judgeUses has a counter that uses share under limits of their own pass when each
// is within its own. The store has judged all of them by the tightest.
func (p *Plan) judgeUses(e *weir.Entry) {
	shared, over := uint64(0), uint64(0) // a bit per charge, of which there are at most 64
	for i := range p.Uses {
		at := p.Uses[i].Charge
		told := e.Outcomes[at]
		if told.OK {
			continue
		}
		if p.Retell(i, &told) {
			shared |= 1 << at
		}
		if !told.OK { // by its own limit, or as the store has said of it
			over |= 1 << at
		}
	}
	for i := range e.Outcomes {
		if o := &e.Outcomes[i]; shared&^over&(1<<i) != 0 {
			o.OK, o.RetryAfter = true, 0
		}
	}
}

// Retell makes o, the outcome of the charge that the i-th use shares with
// others, that of the use: the costs of those before it are counted, of those
// after it not yet, and its own limit is asked. Costs of a fixed window just add up;
// other limits stay as they are told: false.
func (p *Plan) Retell(i int, o *weir.Outcome) bool {
	u := &p.Uses[i]
	c := &p.Charges[u.Charge]
	alone := c.Cost == u.Cost && c.Meter == u.Meter // others, if any, cost nothing and ask no other limit of it
	if alone || o.Granted != c.Cost || c.Meter.Machine != weir.Window || c.Mode == weir.Refund {
		return false
	}
	used := o.Before.Used
	for j := range i {
		if p.Uses[j].Charge == u.Charge {
			used += p.Uses[j].Cost
		}
	}
	o.Before.Used, o.Granted = used, u.Cost
	used += u.Cost
	o.Remaining = max(0, u.Meter.Capacity-used)
	if o.OK = used <= u.Meter.Capacity; o.OK {
		o.RetryAfter = 0
	}
	return true
}
