package wire

import (
	"errors"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
)

// Answer translates a decision into out.
func Answer(d *weir.Decision, in *weirv1.CheckRequest, out *weirv1.CheckResponse) {
	out.Code = weirv1.Code_CODE_DENY
	if out.Allowed = d.Allowed(); out.Allowed {
		out.Code = weirv1.Code_CODE_OK
	}
	out.Remaining = d.Remaining
	out.ResetAfterUs = int64(d.ResetAfter)
	out.RetryAfterUs = int64(d.RetryAfter)
	out.DelayUs = int64(d.Delay)
	out.PolicyVersion = d.PolicyVersion
	out.Reason = weirv1.Reason(d.Reason)
	out.Source = weirv1.Source(d.Source)
	out.Replayed = d.Replayed
	out.Number = in.GetNumber()
	if d.Rule != "" {
		out.Quota = Quota(d.Rule, d.Limit)
		out.Quota.Scope = d.Scope
	}
	if in.GetWantCharges() {
		for i := range d.Charges {
			out.Charges = append(out.Charges, charge(&d.Charges[i]))
		}
	}
}

// Quota is a limit on the wire.
func Quota(rule string, l weir.Limit) *weirv1.Quota {
	q := &weirv1.Quota{Rule: rule}
	if l.Count > 0 { // a rule that admits nothing has no limit to speak of
		q.Limit, q.Algorithm = l.String(), weirv1.Algorithm(l.Algorithm)
		q.Count, q.WindowUs, q.Burst = l.Count, int64(l.Window), l.Burst
	}
	return q
}

func charge(c *weir.Charged) *weirv1.Charge {
	o := &c.Outcome
	return &weirv1.Charge{
		Quota: Quota(c.Rule, c.Limit), Mode: weirv1.ChargeMode(c.Mode), Cost: c.Cost,
		Ok: o.OK, Granted: o.Granted, Remaining: o.Remaining, UsedBefore: o.Before.Used,
		ResetAfterUs: int64(o.ResetAfter), RetryAfterUs: int64(o.RetryAfter), DelayUs: int64(o.Delay),
	}
}

// Refuse answers a check of a stream that could not be decided.
func Refuse(err error, in *weirv1.CheckRequest, out *weirv1.CheckResponse) {
	out.Code, out.Number = weirv1.Code_CODE_ERROR, in.GetNumber()
	e, ok := errors.AsType[*weir.Error](err)
	if !ok {
		e = &weir.Error{Message: err.Error()}
	}
	if e.Code == weir.CodePolicyNotFound {
		out.Code = weirv1.Code_CODE_POLICY_NOT_FOUND
	}
	out.Error = &weirv1.Error{Code: e.Code.String(), Field: e.Field, Message: e.Message, Hint: e.Hint}
}
