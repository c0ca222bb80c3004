package wire

import (
	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
)

// Decision reads an answer into d, reusing its memory. It returns an error when
// no decision was made: the server's own, or CodeProtocol for an answer that is
// none.
//
// What the wire does not say is not there: of Matched an element per descriptor
// with nothing in it, and no RuleIndex. Of charges, when they were asked for,
// the instant in Outcome.Before and the descriptor, of which there is one.
func Decision(in *weirv1.CheckResponse, descriptors int, d *weir.Decision) error {
	*d = weir.Decision{Charges: d.Charges[:0], Matched: d.Matched[:0], RuleIndex: -1}
	switch in.GetCode() {
	case weirv1.Code_CODE_OK, weirv1.Code_CODE_DENY:
	case weirv1.Code_CODE_POLICY_NOT_FOUND, weirv1.Code_CODE_ERROR:
		return errorOf(in)
	default:
		return &weir.Error{Code: weir.CodeProtocol, Message: "the server answered with code " + in.GetCode().String()}
	}
	d.Verdict = weir.Deny
	if in.GetAllowed() && in.GetCode() == weirv1.Code_CODE_OK {
		d.Verdict = weir.Allow
	}
	d.Reason, d.Source = known(weir.ReasonShed, in.GetReason()), known(weir.SourceSwitch, in.GetSource())
	d.Remaining, d.ResetAfter = in.GetRemaining(), weir.Micros(in.GetResetAfterUs())
	d.RetryAfter, d.Delay = weir.Micros(in.GetRetryAfterUs()), weir.Micros(in.GetDelayUs())
	d.PolicyVersion, d.Replayed = in.GetPolicyVersion(), in.GetReplayed()
	d.Rule, d.Scope, d.Limit = in.GetQuota().GetRule(), in.GetQuota().GetScope(), limitOf(in.GetQuota())
	for range descriptors {
		d.Matched = append(d.Matched, weir.Matched{})
	}
	for _, c := range in.GetCharges() {
		d.Charges = append(d.Charges, charged(c))
	}
	return nil
}

// known is an enum's twin in the vocabulary, its zero when a newer server says
// what is not known here.
func known[T ~uint8, E ~int32](last T, e E) T {
	if e < 0 || e > E(last) {
		return 0
	}
	return T(e)
}

func limitOf(q *weirv1.Quota) weir.Limit {
	return weir.Limit{
		Algorithm: known(weir.Concurrency, q.GetAlgorithm()), Count: q.GetCount(),
		Window: weir.Micros(q.GetWindowUs()), Burst: q.GetBurst(),
	}
}

func charged(c *weirv1.Charge) weir.Charged {
	return weir.Charged{
		Rule: c.GetQuota().GetRule(), Limit: limitOf(c.GetQuota()), Cost: c.GetCost(), Mode: known(weir.UpTo, c.GetMode()),
		Outcome: weir.Outcome{
			OK: c.GetOk(), Granted: c.GetGranted(), Remaining: c.GetRemaining(),
			ResetAfter: weir.Micros(c.GetResetAfterUs()), RetryAfter: weir.Micros(c.GetRetryAfterUs()),
			Delay: weir.Micros(c.GetDelayUs()), Before: weir.Usage{Used: c.GetUsedBefore()},
		},
	}
}

func errorOf(in *weirv1.CheckResponse) error {
	e := in.GetError()
	out := &weir.Error{Code: CodeOf(e.GetCode()), Field: e.GetField(), Message: e.GetMessage(), Hint: e.GetHint()}
	if in.GetCode() == weirv1.Code_CODE_POLICY_NOT_FOUND {
		out.Code = weir.CodePolicyNotFound
	}
	return out
}

// CodeOf is the code of that name, CodeInternal when there is none.
func CodeOf(name string) weir.Code {
	for c := weir.CodeInternal; c <= weir.CodeBreaker; c++ {
		if c.String() == name {
			return c
		}
	}
	return weir.CodeInternal
}
