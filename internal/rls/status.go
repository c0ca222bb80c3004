package rls

import (
	"math"
	"time"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"

	"github.com/weirlimit/weir"
)

// status is the answer for one descriptor: that of its tightest limit. It is
// what is said, before it is a message.
type status struct {
	code      pb.RateLimitResponse_Code
	limited   bool // there is a current limit: name, perUnit, unit
	name      string
	perUnit   uint32
	unit      pb.RateLimitResponse_RateLimit_Unit
	remaining uint32
	timed     bool // there is a time until reset
	reset     time.Duration
}

func statusOf(d *weir.Decision, descriptor int) (out status) {
	out.code = pb.RateLimitResponse_OK
	if descriptor < len(d.Matched) {
		m := &d.Matched[descriptor]
		if m.Unlimited {
			out.remaining = math.MaxUint32
			return out
		}
		out.name = m.Name
		if m.Zero != nil {
			out.code = codeOf(m.Shadow)
			out.limited = true
			out.perUnit, out.unit = rateOf(*m.Zero)
			if m.Zero.Algorithm == weir.FixedWindow && m.Zero.Window > 0 { // nothing comes free at its end, but it has one
				out.timed, out.reset = true, (m.Zero.Window - d.At%m.Zero.Window).Duration()
			}
			return out
		}
		if m.Rule == "" && !hasCharge(d, descriptor) {
			return out
		}
	}
	c := tightest(d, descriptor)
	if c == nil {
		// Decided without the store; else a look at a limit of 0, which denies nothing
		// by itself, whoever else does.
		out.code = codeOf(d.Allowed() || d.Reason == weir.ReasonExhausted)
		return out
	}
	out.code = codeOf(c.Outcome.OK || c.Mode == weir.Shadow)
	out.limited = true
	out.perUnit, out.unit = rateOf(c.Limit)
	out.remaining = uint32(min(c.Outcome.Remaining, math.MaxUint32))
	out.timed, out.reset = true, c.Outcome.ResetAfter.Duration()
	return out
}

// keepLeast makes s the other status, if that has a limit with less left. As in
// envoyproxy/ratelimit one that denies goes before all others, and the last before
// the first.
func (s *status) keepLeast(other *status) {
	const over = pb.RateLimitResponse_OVER_LIMIT
	if other.limited && (!s.limited || other.code == over || s.code != over && other.remaining < s.remaining) {
		*s = *other
	}
}

func hasCharge(d *weir.Decision, descriptor int) bool {
	for i := range d.Charges {
		if d.Charges[i].Descriptor == descriptor {
			return true
		}
	}
	return false
}

// tightest is the charge of a descriptor that says most: one that denies, the
// longest first; else the one with least left.
func tightest(d *weir.Decision, descriptor int) *weir.Charged {
	var best *weir.Charged
	for i := range d.Charges {
		c := &d.Charges[i]
		if c.Descriptor == descriptor && (best == nil || tighter(c, best)) {
			best = c
		}
	}
	return best
}

func tighter(a, b *weir.Charged) bool {
	switch shadow := a.Mode == weir.Shadow; {
	case shadow != (b.Mode == weir.Shadow):
		return !shadow
	case a.Outcome.OK != b.Outcome.OK:
		return !a.Outcome.OK
	case !a.Outcome.OK:
		return a.Outcome.RetryAfter > b.Outcome.RetryAfter
	}
	return a.Outcome.Remaining < b.Outcome.Remaining
}
