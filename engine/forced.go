package engine

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/policy"
)

// forced lets a request through that the operator's switch forces. Where the
// switch forces some of the rules only, theirs are counted as in shadow and have
// no say in how the request fails, and the request goes on.
func (f *flow) forced() bool {
	s := f.engine.override
	if s == nil || !s.On() {
		return false
	}
	if s.Forced("", "") {
		f.passForced(nil)
		return true
	}
	var first *policy.Rule
	enforced := false
	f.plan.Relax(func(r *policy.Rule) bool {
		is := s.Forced(r.Domain, r.ID)
		switch {
		case is && first == nil:
			first = r
		case !is && r.Mode != weir.Shadow:
			enforced = true
		}
		return is
	})
	if first == nil || enforced {
		return false
	}
	f.passForced(first)
	return true
}

func (f *flow) passForced(r *policy.Rule) {
	d := f.dec
	d.Verdict, d.Reason, d.Source = weir.Allow, weir.ReasonForced, weir.SourceSwitch
	if r != nil {
		d.Rule, d.Scope, d.RuleIndex = r.ID, r.Scope, r.Index
	}
}
