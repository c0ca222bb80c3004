package limiter

import "github.com/weirlimit/weir"

// read fills d from a decided entry.
func (l *Limiter) read(e *weir.Entry, d *weir.Decision, charges bool) {
	if i := e.Binding(); i >= 0 {
		l.fill(d, e.Charges[i].Meter, &e.Outcomes[i], e.Admitted)
	}
	d.Replayed = e.Replayed
	for i := range e.Outcomes {
		c, o := &e.Charges[i], &e.Outcomes[i]
		if c.Mode == weir.Shadow {
			d.Source = weir.SourceShadow
		} else { // all limits apply at once: the longest of their delays holds
			d.Delay = max(d.Delay, o.Delay)
		}
		if charges {
			d.Charges = append(d.Charges, weir.Charged{
				Rule: l.name, Limit: c.Meter.Limit, Cost: c.Cost, Mode: c.Mode, Outcome: *o,
			})
		}
	}
}

// fill describes the limit that binds.
func (l *Limiter) fill(d *weir.Decision, m *weir.Meter, o *weir.Outcome, admitted bool) {
	d.Rule, d.Limit = l.name, m.Limit
	d.Remaining, d.ResetAfter = o.Remaining, o.ResetAfter
	if admitted {
		d.Verdict = weir.Allow
		return
	}
	d.Verdict, d.Reason, d.RetryAfter = weir.Deny, weir.ReasonExhausted, o.RetryAfter
	if o.RetryAfter == weir.Never {
		d.Reason = weir.ReasonTooCostly
	}
}
