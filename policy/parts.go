package policy

import (
	"slices"
	"strings"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
)

// SubCharges returns c once for each sub-counter that parts are the meters of.
// Without parts it is c alone. Names are copies: they outlive the plan.
func SubCharges(c *weir.Charge, parts []*weir.Meter) []weir.Charge {
	one := *c
	one.Key, one.Twin = strings.Clone(c.Key), strings.Clone(c.Twin)
	if len(parts) == 0 {
		return []weir.Charge{one}
	}
	out := make([]weir.Charge, len(parts))
	for i, m := range parts {
		one.Meter, one.Key = m, key.Sibling(c.Key, uint8(i+1))
		if c.Twin != "" {
			one.Twin = key.Sibling(c.Twin, uint8(i+1))
		}
		out[i] = one
	}
	return out
}

// AddPart adds what was read of a sub-counter to what was read of others. The
// whole is free when the last part is.
func AddPart(whole *weir.Outcome, part weir.Outcome) {
	whole.OK = whole.OK || part.OK
	whole.Granted += part.Granted
	whole.Remaining += part.Remaining
	whole.ResetAfter = max(whole.ResetAfter, part.ResetAfter)
	whole.RetryAfter = max(whole.RetryAfter, part.RetryAfter)
	whole.Before.Used += part.Before.Used
	whole.Before.Since = max(whole.Before.Since, part.Before.Since)
}

// By tells whether the use's counter is charged by m. It is not where another use of
// the same counter has a tighter limit.
func (u *Use) By(m *weir.Meter) bool { return u.Meter == m || slices.Contains(u.Parts, m) }

// Scale makes of the outcome of one sub-counter an estimate of the whole: the
// others are taken to be as full, which in the long run they are. What was
// granted and when to come back are the sub-counter's own. The outcome of a
// counter that is not split is left as it is.
func (u *Use) Scale(o *weir.Outcome) {
	n := int64(len(u.Parts))
	if n == 0 {
		return
	}
	o.Remaining = min(o.Remaining*n, u.Meter.Capacity)
	o.Before.Used *= n
}
