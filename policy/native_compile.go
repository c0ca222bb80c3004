package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirlimit/weir"
)

// nativeDomain is the compiled policies of a domain, from one or more files.
// It is immutable.
type nativeDomain struct {
	name      string
	policies  []nativePolicy // in the order of files, and as written in them
	byID      map[string]int32
	tenants   map[string]string // tenant to plan
	index     matchIndex
	overrides Overrides // nil for none
	splitter  splitter

	priorities []RoutePriority // in the order of files, and as written in them
	plain      int             // how many of index.general, from the first on, are plain
}

// nativePolicy is a policy ready to be matched and charged.
type nativePolicy struct {
	rule      *Rule
	where     []condition
	routes    []Route
	by        []string
	hides     []bool // which of by are private
	partition int    // index into by; -1: one counter for all, at tag
	tag       string // the partition of a policy without by
	limits    meters
	plans     map[string]meters
	slots     []*weir.Meter // the concurrency of all of these, each counter once
	cost      []RouteCost
	require   bool
	shards    int64 // into how many a counter is split, if its limits are large enough; 0: none
}

// meters are the limits of a policy or a plan: those that count units first,
// then those that count requests in progress.
type meters struct {
	all   []*weir.Meter
	rates int // all[:rates] count units
}

// compileNative compiles the native files among files, by domain. Several files
// may share a domain: their policies apply together. A file that contradicts an
// earlier one is left out; its problems name it.
func compileNative(files []*File, o Options) (map[string]*nativeDomain, []Problem) {
	c := nativeCompiler{
		domains: map[string]*nativeDomain{},
		meters:  map[weir.Limit]*weir.Meter{},
		tenants: map[string]map[string]Position{},
		private: o.private(), lease: o.Lease, overrides: o.Overrides,
	}
	for _, f := range files {
		if f.Native != nil && c.fits(f.Native) {
			c.add(f.Native)
		}
	}
	for _, d := range c.domains {
		d.index = newMatchIndex(d.policies)
		d.plain = d.countPlain()
	}
	return c.domains, c.problems
}

// allRules lists the domain's rules in the order they were written.
func (d *nativeDomain) allRules() []*Rule {
	rules := make([]*Rule, len(d.policies))
	for i := range d.policies {
		rules[i] = d.policies[i].rule
	}
	return rules
}

type nativeCompiler struct {
	domains   map[string]*nativeDomain
	meters    map[weir.Limit]*weir.Meter     // a meter per limit, however many policies have it
	tenants   map[string]map[string]Position // where a domain's tenants were given a plan
	private   []string
	lease     bool // Options.Lease
	overrides Overrides
	problems  []Problem
}

// fits tells whether a file can stand beside those before it.
func (c *nativeCompiler) fits(f *NativeFile) bool {
	d, before := c.domains[f.Domain], len(c.problems)
	if d == nil {
		return true
	}
	for i := range f.Policies {
		p := &f.Policies[i]
		if have, ok := d.byID[p.ID]; ok {
			c.problem(p.At, "duplicate-id", "ids are unique in a domain, across its files",
				"policy %q is already at %s", p.ID, d.policies[have].rule.At)
		}
	}
	for _, t := range f.Tenants {
		if plan, ok := d.tenants[t.Tenant]; ok && plan != t.Plan {
			c.problem(t.At, "duplicate-tenant", "a tenant is on one plan",
				"tenant %q is on plan %q here and on %q at %s", t.Tenant, t.Plan, plan, c.tenants[f.Domain][t.Tenant])
		}
	}
	return len(c.problems) == before
}

func (c *nativeCompiler) problem(at Position, code, hint, format string, args ...any) {
	c.problems = append(c.problems, Problem{At: at, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

func (c *nativeCompiler) add(f *NativeFile) {
	d := c.domains[f.Domain]
	if d == nil {
		d = &nativeDomain{name: f.Domain, byID: map[string]int32{}, tenants: map[string]string{}, overrides: c.overrides}
		c.domains[f.Domain], c.tenants[f.Domain] = d, map[string]Position{}
	}
	for i := range f.Policies {
		d.byID[f.Policies[i].ID] = int32(len(d.policies))
		d.policies = append(d.policies, c.policy(d.name, &f.Policies[i]))
	}
	d.priorities = append(d.priorities, f.Priorities...)
	for _, t := range f.Tenants {
		d.tenants[t.Tenant], c.tenants[f.Domain][t.Tenant] = t.Plan, t.At
	}
}

func (c *nativeCompiler) policy(domain string, p *NativePolicy) nativePolicy {
	rule := &Rule{
		ID: p.ID, Name: p.ID, Domain: domain, At: p.At,
		Mode: p.Mode, Sheds: p.Sheds, Fail: p.Fail, FailSet: p.FailSet, Deadline: p.Deadline, Scope: strings.Join(p.By, ","),
		Lease: p.leases(c.lease),
	}
	n := nativePolicy{
		rule: rule, routes: p.Routes, by: p.By, partition: slices.Index(p.By, p.Partition), tag: p.ID,
		cost: p.Cost, require: p.Require, shards: int64(p.Shards),
	}
	for _, name := range p.By {
		hidden := slices.Contains(c.private, name)
		n.hides, rule.private = append(n.hides, hidden), rule.private || hidden
	}
	for _, w := range p.Match {
		n.where = append(n.where, newCondition(w))
	}
	n.limits = c.prepare(p.Limits, p.Concurrency)
	rule.Windows = n.limits.all
	rule.prepare(n.limits.all)
	n.hold(n.limits)
	if len(p.Plans) > 0 {
		n.plans, rule.ByPlan = map[string]meters{}, map[string][]*weir.Meter{}
	}
	for _, plan := range p.Plans {
		m := c.prepare(plan.Limits, p.Concurrency)
		n.plans[plan.Plan], rule.ByPlan[plan.Plan] = m, m.all
		rule.prepare(m.all)
		n.hold(m)
	}
	return n
}

// hold notes the counters of requests in progress.
func (p *nativePolicy) hold(m meters) {
	for _, slots := range m.all[m.rates:] {
		if !slices.ContainsFunc(p.slots, func(s *weir.Meter) bool { return s.Limit.Window == slots.Limit.Window }) {
			p.slots = append(p.slots, slots)
		}
	}
}

// prepare makes the meters of written limits, which are valid.
func (c *nativeCompiler) prepare(lists ...[]WrittenLimit) meters {
	m := meters{all: []*weir.Meter{}}
	var slots []*weir.Meter
	for _, list := range lists {
		for _, w := range list {
			meter := c.meters[w.Limit]
			if meter == nil {
				var err error
				if meter, err = weir.NewMeter(w.Limit); err != nil {
					c.problem(w.At, "bad-limit", "", "%s", err)
					continue
				}
				c.meters[w.Limit] = meter
			}
			if meter.Machine == weir.Slots {
				slots = append(slots, meter)
			} else {
				m.all = append(m.all, meter)
			}
		}
	}
	m.rates = len(m.all)
	m.all = append(m.all, slots...)
	return m
}
