package engine

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/policy"
)

// degrade answers what the store did not, and says why: by the strictest fail
// mode of the rules that apply.
//
//	closed       denies
//	open, local  are answered by the backstop, local more strictly; without one
//	             open passes and local denies
func (f *flow) degrade(why error) {
	f.dec.Charges = f.dec.Charges[:0]
	if f.plan.Tallied {
		f.plan.Shade()
	}
	if f.plan.Fail != policy.FailClosed && f.engine.backstop != nil && f.ask.Entry != nil {
		f.ask.Entry.Err = nil
		f.engine.backstop.Answer(&f.ask)
		f.fill(f.ask.Entry, weir.SourceBackstop)
		if f.dec.Allowed() {
			f.dec.Reason = weir.ReasonDegraded
		}
	} else {
		f.failPlainly()
	}
	f.engine.degraded(f.dec, why)
}

// degraded tells the hook. One that panics must not keep the answer back.
func (e *Engine) degraded(d *weir.Decision, why error) {
	if e.hooks.Degraded == nil {
		return
	}
	defer e.recovered()
	e.hooks.Degraded(d, why)
}

// failPlainly answers with no counter at all.
func (f *flow) failPlainly() {
	f.dec.Verdict, f.dec.Reason, f.dec.Source = weir.Allow, weir.ReasonDegraded, weir.SourceBackstop
	f.dec.Remaining, f.dec.ResetAfter, f.dec.RetryAfter, f.dec.Delay = 0, 0, 0, 0
	if f.plan.Fail != policy.FailOpen {
		f.dec.Verdict, f.dec.RetryAfter = weir.Deny, retryDegraded
	}
	for i := range f.plan.Uses {
		u := &f.plan.Uses[i]
		if f.dec.RuleIndex < 0 && u.Rule.Mode != weir.Shadow && u.Rule.Fail == f.plan.Fail {
			f.dec.Rule, f.dec.RuleIndex, f.dec.Limit = u.Rule.ID, u.Rule.Index, u.Meter.Limit
		}
	}
}

// retryDegraded is when to come back to a limiter that cannot decide. Edges add
// jitter.
const retryDegraded = weir.Second
