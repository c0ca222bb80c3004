package respond

import (
	"strconv"

	"github.com/weirlimit/weir"
)

// MaxPolicies bounds the policies that are listed, since servers bound the
// length of header lines. The one that binds is always among them.
const MaxPolicies = 16

// maxInteger is the largest Integer of structured fields: 15 digits.
const maxInteger = 999_999_999_999_999

// AppendPolicies appends the value of RateLimit-Policy: the limits that apply,
// in the order of d.Charges, those that are the same but for their key once. It
// appends nothing when there is none.
func (a *Answer) AppendPolicies(dst []byte) []byte {
	d, listed := a.Decision, 0
	bound := !a.binds() // or already listed
	for i := range d.Charges {
		c := &d.Charges[i]
		if !shown(c) || a.repeats(i) {
			continue
		}
		binding := a.isBinding(c)
		bound = bound || binding
		if !binding && (listed == MaxPolicies || listed == MaxPolicies-1 && !bound) {
			continue
		}
		if listed++; listed > 1 {
			dst = append(dst, ", "...)
		}
		dst = a.appendPolicy(dst, c.Rule, &c.Limit)
	}
	if !bound {
		dst = a.appendPolicy(dst, d.Rule, &d.Limit)
	}
	return dst
}

// repeats tells whether an earlier charge was for the same limit of the same
// rule: descriptors may differ in values only.
func (a *Answer) repeats(i int) bool {
	charges := a.Decision.Charges
	for j := range i {
		if shown(&charges[j]) && charges[j].Rule == charges[i].Rule && charges[j].Limit == charges[i].Limit {
			return true
		}
	}
	return false
}

// appendPolicy appends one item: what an operator wrote, as the draft has it.
// It knows no bursts, and wants parameters of one's own to carry a prefix.
// Concurrency has no window: its own is when a unit counts as abandoned.
func (a *Answer) appendPolicy(dst []byte, rule string, l *weir.Limit) []byte {
	dst = append(a.appendName(append(dst, '"'), rule, l, true), '"')
	dst = appendInteger(append(dst, ";q="...), l.Count)
	if l.Algorithm == weir.Concurrency {
		return append(dst, `;qu="concurrent-requests"`...)
	}
	dst = appendInteger(append(dst, ";w="...), l.Window.Seconds())
	if most := l.Capacity(); most != l.Count {
		dst = appendInteger(append(dst, ";weir-burst="...), most)
	}
	return dst
}

// AppendRateLimit appends the value of RateLimit: what is left of the limit
// that binds, and for how long that is all. It appends nothing when there is
// none.
func (a *Answer) AppendRateLimit(dst []byte) []byte {
	if !a.binds() {
		return dst
	}
	d := a.Decision
	dst = append(a.appendName(append(dst, '"'), d.Rule, &d.Limit, true), '"')
	dst = appendInteger(append(dst, ";r="...), d.Remaining)
	if d.Limit.Algorithm == weir.Concurrency {
		return dst
	}
	return appendInteger(append(dst, ";t="...), a.effective())
}

func appendInteger(dst []byte, n int64) []byte {
	return strconv.AppendInt(dst, min(max(0, n), maxInteger), 10)
}
