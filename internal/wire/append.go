package wire

import (
	"github.com/weirlimit/weir"
	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir/internal/pbwire"
)

// AppendAnswer appends a decision as a CheckResponse: what protobuf would write
// of what Answer makes.
func AppendAnswer(b []byte, d *weir.Decision, in *weirv1.CheckRequest) []byte {
	allowed, code := d.Allowed(), weirv1.Code_CODE_DENY
	if allowed {
		code = weirv1.Code_CODE_OK
	}
	b = pbwire.AppendInt(b, 1, int64(code))
	b = pbwire.AppendBool(b, 2, allowed)
	b = pbwire.AppendInt(b, 3, d.Remaining)
	b = pbwire.AppendInt(b, 4, int64(d.ResetAfter))
	b = pbwire.AppendInt(b, 5, int64(d.RetryAfter))
	b = pbwire.AppendInt(b, 6, int64(d.Delay))
	if d.Rule != "" {
		b = appendQuota(b, 7, d.Rule, &d.Limit, d.Scope)
	}
	b = pbwire.AppendText(b, 8, d.PolicyVersion)
	b = pbwire.AppendInt(b, 9, int64(d.Reason))
	b = pbwire.AppendInt(b, 10, int64(d.Source))
	b = pbwire.AppendBool(b, 11, d.Replayed)
	b = pbwire.AppendUint(b, 12, in.GetNumber())
	if in.GetWantCharges() {
		for i := range d.Charges {
			b = appendCharge(b, &d.Charges[i])
		}
	}
	return b
}

// appendQuota is Quota.
func appendQuota(b []byte, number uint32, rule string, l *weir.Limit, scope string) []byte {
	b, from := pbwire.Open(b, number)
	b = pbwire.AppendText(b, 1, rule)
	if l.Count > 0 {
		var at int
		b, at = pbwire.Open(b, 2)
		b = pbwire.Close(l.AppendTo(b), at)
		b = pbwire.AppendInt(b, 3, int64(l.Algorithm))
		b = pbwire.AppendInt(b, 4, l.Count)
		b = pbwire.AppendInt(b, 5, int64(l.Window))
		b = pbwire.AppendInt(b, 6, l.Burst)
	}
	return pbwire.Close(pbwire.AppendText(b, 7, scope), from)
}

// appendCharge is charge.
func appendCharge(b []byte, c *weir.Charged) []byte {
	o := &c.Outcome
	b, from := pbwire.Open(b, 16)
	b = appendQuota(b, 1, c.Rule, &c.Limit, "")
	b = pbwire.AppendInt(b, 2, int64(c.Mode))
	b = pbwire.AppendInt(b, 3, c.Cost)
	b = pbwire.AppendBool(b, 4, o.OK)
	b = pbwire.AppendInt(b, 5, o.Granted)
	b = pbwire.AppendInt(b, 6, o.Remaining)
	b = pbwire.AppendInt(b, 7, int64(o.ResetAfter))
	b = pbwire.AppendInt(b, 8, int64(o.RetryAfter))
	b = pbwire.AppendInt(b, 9, int64(o.Delay))
	b = pbwire.AppendInt(b, 10, o.Before.Used)
	return pbwire.Close(b, from)
}
