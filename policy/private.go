package policy

import (
	"slices"

	"github.com/weirlimit/weir"
)

// DefaultPrivate are the dimensions whose values say who somebody is, and in
// Envoy's format the entries that do.
func DefaultPrivate() []string {
	return []string{"ip", "user", "api_key", "remote_address", "masked_remote_address"}
}

// private returns the names of private dimensions.
func (o *Options) private() []string {
	if o.Private == nil {
		return DefaultPrivate()
	}
	return o.Private
}

// LongestPrivate is how long the state of a counter by a private value can
// matter when nobody touches it, over all rules, and the rule of which that is
// so. It is nil when no rule counts by a private value.
func (s *Set) LongestPrivate() (longest weir.Micros, of *Rule) {
	for _, r := range s.rules {
		if !r.private {
			continue
		}
		windows := slices.Clone(r.Windows)
		for _, of := range r.ByPlan {
			windows = append(windows, of...)
		}
		for _, m := range windows {
			if h := horizonOf(m, weir.Enforce); of == nil || h > longest {
				longest, of = h, r
			}
		}
	}
	return longest, of
}

// horizonOf is how long a state of m matters when nobody touches it: until its
// units are free. A count that goes past the limit takes longer to drain.
func horizonOf(m *weir.Meter, mode weir.Mode) weir.Micros {
	if m.Machine != weir.Bucket {
		return m.Limit.Window
	}
	units := m.Capacity
	if mode == weir.Always {
		units = m.UsedCap
	}
	return weir.Micros(units * (m.Whole + 1)) // at most 2^52: see Meter.UsedCap
}
