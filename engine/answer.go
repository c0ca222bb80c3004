package engine

import (
	"slices"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/policy"
)

// describe says what each descriptor met.
func (f *flow) describe() {
	n := len(f.plan.Descriptors)
	matched := slices.Grow(f.dec.Matched, n)[:n]
	f.dec.Matched = matched
	for i := range f.plan.Descriptors {
		m, to := &f.plan.Descriptors[i], &matched[i] // in place: a literal would be copied
		to.Rule, to.Name, to.Unlimited, to.Zero, to.Shadow, to.Metadata = "", "", m.Unlimited, m.Denies, false, nil
		if m.Rule != nil {
			to.Rule, to.Metadata, to.Shadow = m.Rule.ID, m.Rule.Metadata, m.Rule.Mode == weir.Shadow
			if m.Rule.Name != m.Rule.ID {
				to.Name = m.Rule.Name
			}
		}
	}
}

// fill turns an answer of the store, or of a stage in its place, into the
// decision.
func (f *flow) fill(e *weir.Entry, source weir.Source) {
	if f.meetsOne() {
		f.fillOne(e, source)
		return
	}
	d := f.dec
	tallied := f.plan.Tallied && source == weir.SourceStore
	if tallied {
		f.plan.Judge(e)
	}
	d.Verdict, d.Reason, d.Source, d.Replayed = weir.Allow, weir.ReasonNone, source, e.Replayed
	if !e.Admitted {
		d.Verdict, d.Reason = weir.Deny, weir.ReasonExhausted
	}
	f.scale(e)
	enforced := false
	charges := slices.Grow(d.Charges[:0], len(f.plan.Uses))[:len(f.plan.Uses)]
	d.Charges = charges
	for i := range f.plan.Uses {
		u := &f.plan.Uses[i]
		c := &e.Charges[u.Charge]
		enforced = enforced || c.Mode != weir.Shadow
		o := &e.Outcomes[u.Charge]
		to := &charges[i] // in place
		to.Rule, to.Descriptor, to.Limit = u.Rule.ID, u.Descriptor, u.Meter.Limit
		to.Cost, to.Mode, to.Outcome = u.Cost, c.Mode, *o
		if tallied {
			f.plan.Retell(i, &to.Outcome)
		}
		if c.Mode != weir.Shadow {
			d.Delay = max(d.Delay, o.Delay)
		}
	}
	if !enforced && source == weir.SourceStore {
		d.Source = weir.SourceShadow
	}
	f.bind(e.Binding(), e)
	if d.Reason == weir.ReasonShed {
		f.notBefore(e)
	}
}

// notBefore puts the time to come back off for as long as other limits deny: a place
// that is given back is of no use before.
func (f *flow) notBefore(e *weir.Entry) {
	for i := range e.Charges {
		c, o := &e.Charges[i], &e.Outcomes[i]
		if !o.OK && c.Mode != weir.Shadow && c.Mode != weir.Refund && c.Group == 0 && c.Meter.Machine != weir.Slots {
			f.dec.RetryAfter = max(f.dec.RetryAfter, o.RetryAfter)
		}
	}
}

// meetsOne tells whether the request meets one limit, of a counter that is not
// split, and is told what the store says of it: as most are.
func (f *flow) meetsOne() bool {
	return len(f.plan.Uses) == 1 && f.plan.Uses[0].Parts == nil && !f.plan.Tallied
}

// fillOne is fill for a request that meetsOne, which is the one that binds.
func (f *flow) fillOne(e *weir.Entry, source weir.Source) {
	d, u, c, o := f.dec, &f.plan.Uses[0], &e.Charges[0], &e.Outcomes[0]
	d.Verdict, d.Reason, d.Source, d.Replayed = weir.Allow, weir.ReasonNone, source, e.Replayed
	if !e.Admitted {
		d.Verdict, d.Reason = weir.Deny, weir.ReasonExhausted
	}
	if c.Mode == weir.Shadow && source == weir.SourceStore {
		d.Source = weir.SourceShadow
	}
	d.Charges = slices.Grow(d.Charges[:0], 1)[:1]
	to := &d.Charges[0]
	to.Rule, to.Descriptor, to.Limit, to.Cost, to.Mode, to.Outcome = u.Rule.ID, u.Descriptor, u.Meter.Limit, u.Cost, c.Mode, *o
	if c.Mode != weir.Shadow {
		d.Delay = max(d.Delay, o.Delay)
	}
	f.bindTo(u, o, e.Admitted)
}

// scale makes the outcomes of sub-counters speak for the counter that was split,
// before the one that binds is looked for.
func (f *flow) scale(e *weir.Entry) {
	scaled := uint64(0) // a bit per charge, of which there are at most 64
	for i := range f.plan.Uses {
		if u := &f.plan.Uses[i]; u.Parts != nil && scaled&(1<<u.Charge) == 0 {
			scaled |= 1 << u.Charge
			u.Scale(&e.Outcomes[u.Charge])
		}
	}
}

// bind describes the limit that a caller should be told about.
func (f *flow) bind(charge int, e *weir.Entry) {
	if charge < 0 {
		return
	}
	var bound *policy.Use
	for i := range f.plan.Uses {
		u := &f.plan.Uses[i]
		if u.Charge != charge {
			continue
		}
		by := u.By(e.Charges[charge].Meter)
		if by || bound == nil {
			bound = u
		}
		if by {
			break
		}
	}
	if bound != nil {
		f.bindTo(bound, &e.Outcomes[charge], e.Admitted)
	}
}

// bindTo says that the limit is that of u.
func (f *flow) bindTo(u *policy.Use, o *weir.Outcome, admitted bool) {
	d := f.dec
	d.Rule, d.Scope, d.RuleIndex, d.Limit = u.Rule.ID, u.Rule.Scope, u.Rule.Index, u.Meter.Limit
	d.Remaining, d.ResetAfter = o.Remaining, o.ResetAfter
	if admitted {
		d.RetryAfter = 0
		return
	}
	d.RetryAfter = o.RetryAfter
	if o.RetryAfter == weir.Never {
		d.Reason = weir.ReasonTooCostly
	} else if u.Rule.Sheds {
		f.shed()
	}
}

// retryShed is when to come back to a service whose places are all taken. The
// exact time is that of a place nobody gives back: they are given back long
// before, and who was shed should not stay away for it. Edges add jitter.
const retryShed = weir.Second

// shed says that it is the service that has no room.
func (f *flow) shed() {
	d := f.dec
	d.Reason = weir.ReasonShed
	if d.Limit.Algorithm == weir.Concurrency {
		d.RetryAfter = min(d.RetryAfter, retryShed)
	}
}

// denyOutright answers a request that a rule which admits nothing applies to.
func (f *flow) denyOutright() {
	d := f.dec
	d.Verdict, d.Reason, d.RetryAfter = weir.Deny, weir.ReasonExhausted, weir.Never
	d.Remaining, d.ResetAfter, d.Delay = 0, 0, 0 // of a limit that the store was asked about
	if m := f.plan.Denier(); m != nil {
		d.Rule, d.Scope, d.RuleIndex, d.Limit = m.Rule.ID, m.Rule.Scope, m.Rule.Index, *m.Denies
	}
}

// countsAnyway tells whether there are charges that count denied or not.
func (f *flow) countsAnyway() bool {
	for i := range f.plan.Charges {
		if f.plan.Charges[i].Mode == weir.Always {
			return true
		}
	}
	return false
}
