package engine

import (
	"slices"

	"github.com/weirlimit/weir"
)

// Most requests meet one limit, and a store in memory answers at once. Such a
// charge needs no entry, no batch and no search for the limit that binds: it goes
// to the store by itself, and its outcome is written where the caller reads it.

// isSingle tells whether the request may be one of those.
func (f *flow) isSingle() bool {
	return f.engine.alone && len(f.plan.Charges) == 1 && f.meetsOne() && !f.shut && f.req.ID == ""
}

// single decides it, or returns false and has done nothing that matters. What is
// known beforehand is written first: the store's memory comes meanwhile.
func (f *flow) single() (done bool, err error) {
	c, u, d, e := &f.plan.Charges[0], &f.plan.Uses[0], f.dec, f.engine
	d.Charges = slices.Grow(d.Charges[:0], 1)
	to := &d.Charges[:1][0]
	to.Rule, to.Descriptor, to.Limit, to.Cost, to.Mode = u.Rule.ID, u.Descriptor, u.Meter.Limit, u.Cost, c.Mode
	o := &to.Outcome
	done, err = e.prompt.ChargeNow(c, f.began-e.lag, f.req.Deadline, f.hint, o)
	if !done {
		return false, nil
	}
	if err != nil {
		return true, f.failed(err)
	}
	d.Charges = d.Charges[:1]
	d.Verdict, d.Source, d.Delay = weir.Allow, weir.SourceStore, o.Delay
	if !o.OK {
		d.Verdict, d.Reason = weir.Deny, weir.ReasonExhausted
	}
	f.bindTo(u, o, o.OK)
	return true, nil
}
