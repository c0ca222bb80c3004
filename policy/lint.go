package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirlimit/weir"
)

// Lint returns warnings about files that parse: what is allowed and most likely
// not meant. Compile has warnings of its own, about how files stand beside each
// other and about descriptors that are never reached; show both.
//
//	cost-above-capacity  a cost that a limit never has room for
//	never-binds          a limit that another one keeps from ever denying
//	unreachable          a cost or a plan that no request gets to
//	no-fail-mode         a policy that does not say on_failure
//	unreleased           a place that nothing but a release frees for hours
//	unknown-plan         a tenant on a plan that no policy knows
//	unbounded-key        a counter per path: as many as a caller makes up
//	likely-typo          a dimension or a method that is nearly a known one
//	fairness-as-503      one caller's own limit, answered as if the service were full
//	shed-closed          a limit for the service's survival that fails closed
//	not-leased           a limit too small for a lease of it
//	too-many-limits      more limits on every request than one can be charged
func Lint(files []*File) []Problem {
	var l linter
	domains := map[string][]*NativeFile{}
	for _, f := range files {
		switch {
		case f.Envoy != nil:
			l.descriptors(f.Envoy.Descriptors)
		case f.Native != nil:
			domains[f.Native.Domain] = append(domains[f.Native.Domain], f.Native)
		}
	}
	for _, domain := range domains {
		l.domain(domain)
	}
	SortProblems(l.problems)
	return l.problems
}

type linter struct{ problems []Problem }

func (l *linter) warn(at Position, code, hint, format string, args ...any) {
	l.problems = append(l.problems, Problem{
		At: at, Warning: true, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...),
	})
}

// descriptors looks at Envoy's limits. Its format has no costs, plans or fail
// modes to doubt.
func (l *linter) descriptors(list []EnvoyDescriptor) {
	for i := range list {
		d := &list[i]
		var limits []WrittenLimit
		for j := range d.Limits {
			limits = append(limits, WrittenLimit{Limit: d.Limits[j].limit(weir.SlidingWindow), At: d.Limits[j].At})
		}
		l.binding(limits)
		l.descriptors(d.Descriptors)
	}
}

// domain looks at the policies of a domain, file by file and together.
func (l *linter) domain(files []*NativeFile) {
	plans, general, windows := map[string]bool{}, []*NativePolicy{}, 0
	for _, f := range files {
		for i := range f.Policies {
			p := &f.Policies[i]
			for _, plan := range p.Plans {
				plans[plan.Plan] = true
			}
			for _, c := range p.Match {
				for _, text := range c.Patterns {
					plans[text] = plans[text] || c.Dimension == dimPlan
				}
			}
			if p.bindsAll() && len(general) < maxGeneral {
				general = append(general, p)
			}
			if len(p.Match) == 0 && len(p.Routes) == 0 {
				before := windows
				if windows += p.mostWindows(); before <= weir.MaxCharges && windows > weir.MaxCharges {
					l.warn(p.At, "too-many-limits", "give policies a match, or a domain of their own",
						"with policy %s a request may meet %d limits, more than the %d it can be charged", p.ID, windows, weir.MaxCharges)
				}
			}
		}
	}
	for _, f := range files {
		for i := range f.Policies {
			l.policy(&f.Policies[i])
			l.within(&f.Policies[i], general)
		}
		l.tenants(f, plans)
	}
}

func (l *linter) policy(p *NativePolicy) {
	if !p.FailSet {
		l.warn(p.At, "no-fail-mode", "write on_failure: open, closed or local", "policy %s does not say what happens when the store cannot answer", p.ID)
	}
	for _, limits := range p.allLimits() {
		l.binding(limits)
		l.held(limits)
	}
	l.held(p.Concurrency)
	l.costs(p)
	l.leased(p)
	l.plans(p)
	l.words(p)
	l.sheds(p)
}

// allLimits are the limits of the policy and of each plan.
func (p *NativePolicy) allLimits() [][]WrittenLimit {
	all := [][]WrittenLimit{p.Limits}
	for i := range p.Plans {
		all = append(all, p.Plans[i].Limits)
	}
	return all
}

// mostWindows is how many charges the policy can make.
func (p *NativePolicy) mostWindows() int {
	most := 0
	for _, limits := range p.allLimits() {
		most = max(most, len(limits))
	}
	return most + len(p.Concurrency)
}

// longHold is how long a place may be held by what crashed before somebody
// will wonder.
const longHold = weir.Hour

func (l *linter) held(limits []WrittenLimit) {
	for _, w := range limits {
		if w.Limit.Algorithm == weir.Concurrency && w.Limit.Window > longHold {
			l.warn(w.At, "unreleased", "make the timeout little longer than the longest request",
				"nothing but a release frees a place of %s: a caller that crashes holds it until the timeout", w.Limit)
		}
	}
}

// costs finds costs that are too high, and those behind one that takes all
// that they match.
func (l *linter) costs(p *NativePolicy) {
	for i := range p.Cost {
		c := &p.Cost[i]
		for j := range p.Cost[:i] {
			if before := &p.Cost[j]; before.Any || !c.Any && before.Route.covers(&c.Route) {
				l.warn(c.At, "unreachable", "put it before the other",
					"the cost of %s is never used: %s comes first", quoted(c.label()), quoted(before.label()))
				break
			}
		}
		if w := p.tooSmall(c.Cost); w != nil {
			l.tooCostly(p, c, w)
		}
	}
}

func (l *linter) tooCostly(p *NativePolicy, c *RouteCost, w *WrittenLimit) {
	hint, which := "lower the cost, or raise the burst or the count", ""
	if p.Shards > 0 {
		hint, which = "lower the cost, or use fewer shards", fmt.Sprintf("one of %d parts of ", p.Shards)
	}
	l.warn(c.At, "cost-above-capacity", hint,
		"%s costs %d, and %s%s never has room for more than %d", quoted(c.label()), c.Cost, which, w.Limit, p.room(w.Limit))
}

// leased finds limits too small for a lease of them.
func (l *linter) leased(p *NativePolicy) {
	if !p.Lease {
		return
	}
	for _, limits := range p.allLimits() {
		for _, w := range limits {
			if w.Limit.Capacity() < leastLeased {
				l.warn(w.At, "not-leased", "take lease out, or raise the burst or the count",
					"nothing of %s is leased: 5%% of %d is less than a unit", w.Limit, w.Limit.Capacity())
			}
		}
	}
}

// room is the most that a counter of the policy has room for, under a limit.
func (p *NativePolicy) room(l weir.Limit) int64 {
	if p.Shards > 0 {
		return l.Capacity() / int64(p.Shards)
	}
	return l.Capacity()
}

// tooSmall returns a limit that never has room for cost, or nil.
func (p *NativePolicy) tooSmall(cost int64) *WrittenLimit {
	for _, limits := range p.allLimits() {
		for i := range limits {
			w := &limits[i]
			if w.Limit.Algorithm != weir.Concurrency && p.room(w.Limit) < cost {
				return w
			}
		}
	}
	return nil
}

// plans finds plans that the policy's own match keeps away.
func (l *linter) plans(p *NativePolicy) {
	for _, c := range p.Match {
		if c.Dimension != dimPlan {
			continue
		}
		for _, plan := range p.Plans {
			if !slices.ContainsFunc(c.Patterns, func(text string) bool { return newPattern(text).match(plan.Plan) }) {
				l.warn(plan.At, "unreachable", "take the plan out, or let match take it in",
					"the limits of plan %s are never used: match is for plan %s only", quoted(plan.Plan), strings.Join(c.Patterns, ", "))
			}
		}
	}
}

func (l *linter) tenants(f *NativeFile, plans map[string]bool) {
	var known []string
	for plan, ok := range plans {
		if ok {
			known = append(known, plan)
		}
	}
	slices.Sort(known)
	for _, t := range f.Tenants {
		if plans[t.Plan] || slices.ContainsFunc(known, func(text string) bool { return newPattern(text).match(t.Plan) }) {
			continue
		}
		hint := "it gets what requests on no plan get"
		if best := nearest(t.Plan, known); best != "" {
			hint = "did you mean " + best + "?"
		}
		l.warn(t.At, "unknown-plan", hint, "tenant %s is on plan %s, which no policy has", quoted(t.Tenant), quoted(t.Plan))
	}
}
