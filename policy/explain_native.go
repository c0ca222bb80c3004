package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weirlimit/weir"
)

// miss is a policy that does not apply, and how far it is from doing so.
type miss struct {
	policy  int
	failing int // conditions that do not hold
	far     int // letters between what is there and what is wanted, roughly
	why     string
}

// farOff is the distance of what cannot be a misspelling.
const farOff = 9

func (e *Explanation) explainNative(d *nativeDomain, r *weir.Request, now weir.Micros) {
	descriptors := r.Descriptors
	if len(descriptors) == 0 {
		descriptors = []weir.Descriptor{{}}
	}
	for i := range descriptors {
		out := describe(&descriptors[i])
		if distinct(descriptors[i].Pairs) == nil {
			var q query
			d.ask(descriptors[i].Pairs, &q)
			out.Plan = q.plan
			d.explain(&out, &q, r.Policy, now)
		}
		e.Descriptors = append(e.Descriptors, out)
	}
}

func (d *nativeDomain) explain(out *ExplainedDescriptor, q *query, only string, now weir.Micros) {
	var misses []miss
	for i := range d.policies {
		pol := &d.policies[i]
		if only != "" && pol.rule.ID != only {
			continue
		}
		if m := pol.miss(q); m != nil {
			m.policy = i
			misses = append(misses, *m)
			continue
		}
		out.Applied = append(out.Applied, d.applied(pol, q, now))
	}
	slices.SortStableFunc(misses, func(a, b miss) int {
		return cmp.Or(cmp.Compare(a.failing, b.failing), cmp.Compare(a.far, b.far))
	})
	for _, m := range misses[:min(len(misses), maxMissed)] {
		rule := d.policies[m.policy].rule
		out.Missed = append(out.Missed, ExplainedRule{Rule: rule.ID, At: rule.At.String(), Why: m.why})
	}
	out.Others = max(0, len(misses)-maxMissed)
}

// applied explains a policy that applies.
func (d *nativeDomain) applied(pol *nativePolicy, q *query, now weir.Micros) ExplainedRule {
	route, _ := pol.matches(q)
	var values, counter []string
	for _, name := range pol.by {
		v := keyValue(q, name, route)
		values, counter = append(values, v), append(counter, name+"="+v)
	}
	out := ExplainedRule{Rule: pol.rule.ID, At: pol.rule.At.String(), Counter: strings.Join(counter, " ")}
	if len(counter) == 0 {
		out.Counter = "one for all"
	}
	limits, why := pol.limits, "its own limits"
	if m, ok := pol.plans[q.plan]; ok {
		limits, why = m, "the limits of plan "+q.plan
	} else if pol.plans != nil && q.plan != "" {
		why = "its own limits: it has none for plan " + q.plan
	}
	if own, ok := d.ownLimits(pol, values, now); ok {
		limits, why = own, "limits of this counter's own"
	}
	if len(limits.all) == 0 {
		why += ", which are none"
	}
	if pol.rule.Mode == weir.Shadow {
		why += "; in shadow, denies nothing"
	}
	if pol.rule.Sheds {
		out.Answer = answerNames[answerUnavailable]
		why += "; a denial is answered with 503"
	}
	out.Why = why
	return out
}

// miss tells why the policy does not apply; nil when it does. The first
// condition that fails, in the order written, is the one named.
func (p *nativePolicy) miss(q *query) *miss {
	var m miss
	for i := range p.where {
		c := &p.where[i]
		if v := q.value(c.name); !c.match(v) {
			m.add(c.far(v), differs(c.name, v, c.text))
		}
	}
	route, ok := p.matches(q)
	if !ok && len(p.routes) > 0 && !slices.ContainsFunc(p.routes, func(rt Route) bool { return rt.match(q) }) {
		m.add(p.routeMiss(q))
	}
	if m.failing > 0 {
		return &m
	}
	for _, name := range p.by {
		if keyValue(q, name, route) == "" {
			why := "the request has no " + name + " to count by"
			if p.require {
				why += ", and is required to"
			}
			return &miss{why: why}
		}
	}
	return nil
}

func (m *miss) add(far int, why string) {
	if m.failing == 0 {
		m.why = why
	}
	m.failing++
	m.far += far
}

// far estimates how far value is from what the condition wants.
func (c *condition) far(value string) int {
	best := farOff
	const most = 16 // patterns that are compared
	for _, text := range c.text[:min(len(c.text), most)] {
		if value != "" && len(text) < 64 {
			best = min(best, distance(value, text, farOff-1))
		}
	}
	return best
}

// routeMiss explains why no route pattern matches.
func (p *nativePolicy) routeMiss(q *query) (far int, why string) {
	path, method := q.path, q.method
	if path == "" {
		path, method = q.routePath, q.routeMethod
	}
	if path == "" {
		return farOff, "the request has no path and no route, want " + p.wantedRoutes()
	}
	for i := range p.routes {
		if rt := &p.routes[i]; rt.path.match(path) {
			return 1, differs(dimMethod, method, rt.Methods)
		}
	}
	return farOff - 1, fmt.Sprintf("%s is %s, not %s", dimPath, show(path), p.wantedRoutes())
}

func (p *nativePolicy) wantedRoutes() string {
	var texts []string
	for i := range p.routes {
		texts = append(texts, p.routes[i].text)
	}
	return wanted(texts)
}

// differs says what a dimension is and what it should be.
func differs(name, value string, want []string) string {
	if value == "" {
		return fmt.Sprintf("the request has no %s, want %s", name, wanted(want))
	}
	return fmt.Sprintf("%s is %s, not %s", name, show(value), wanted(want))
}

// wanted joins a few patterns.
func wanted(texts []string) string {
	const most = 3
	if len(texts) > most {
		return fmt.Sprintf("%s or %d more", strings.Join(texts[:most], ", "), len(texts)-most)
	}
	return strings.Join(texts, " or ")
}
