package policy

import (
	"math"
	"math/bits"

	"github.com/weirlimit/weir"
)

// purpose is what a resolution is for.
type purpose uint8

const (
	toCheck   purpose = iota
	toRelease         // give requests in progress back, and nothing else
)

// asking is one descriptor on its way through a domain.
type asking struct {
	query
	request    *weir.Request
	descriptor int
	cost       int64 // of the request, before the policy's own
	purpose    purpose
	named      bool // the request names the policy
	refund     bool // units are given back; so they are for a release
	spent      bool // they are spent already
}

// resolve evaluates all policies that match, or the one that is named. Each
// descriptor is a request of its own; costs that meet in one counter add up.
func (d *nativeDomain) resolve(r *weir.Request, p *Plan) error {
	if d.plain == 0 || len(d.policies) > d.plain || r.Policy != "" || len(r.Descriptors) == 0 {
		return d.resolveFor(toCheck, r, p)
	}
	for i := range r.Descriptors { // all are plain: what resolveFor would do, without its calls
		desc := &r.Descriptors[i]
		p.Descriptors = append(p.Descriptors, Matched{})
		cost, err := costOf(r, desc)
		if err != nil {
			return err
		}
		if desc.Limit != nil || len(desc.Pairs) > 1 {
			if err := d.check(desc); err != nil {
				return err
			}
		}
		for n := range d.policies {
			if err := d.policies[n].applyPlain(p, i, desc, cost); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *nativeDomain) resolveFor(to purpose, r *weir.Request, p *Plan) error {
	only := int32(-1)
	if r.Policy != "" {
		i, ok := d.byID[r.Policy]
		if !ok {
			return &weir.Error{Code: weir.CodePolicyNotFound, Field: "policy", Message: "there is no policy " + r.Policy}
		}
		only = i
	}
	if len(r.Descriptors) == 0 { // nothing is known of the request: limits for all still hold
		return d.resolveOne(to, r, p, 0, &weir.Descriptor{}, only)
	}
	for i := range r.Descriptors {
		if err := d.resolveOne(to, r, p, i, &r.Descriptors[i], only); err != nil {
			return err
		}
	}
	return nil
}

func (d *nativeDomain) resolveOne(to purpose, r *weir.Request, p *Plan, i int, desc *weir.Descriptor, only int32) error {
	p.Descriptors = append(p.Descriptors, Matched{})
	cost, err := costOf(r, desc)
	if err != nil {
		return err
	}
	if err := d.check(desc); err != nil {
		return err
	}
	general := d.index.general
	if to == toCheck && only < 0 {
		for _, n := range general[:d.plain] {
			if err := d.policies[n].applyPlain(p, i, desc, cost); err != nil {
				return err
			}
		}
		general = general[d.plain:]
		if len(general) == 0 && d.index.filed == 0 {
			return nil
		}
	}
	var a asking // not in one literal: that would be made elsewhere, and copied
	a.request, a.descriptor, a.cost, a.purpose, a.named = r, i, cost, to, only >= 0
	a.refund, a.spent = desc.Refund || to == toRelease, desc.Spent && to != toRelease
	d.ask(desc.Pairs, &a.query)
	if only >= 0 {
		return d.apply(&d.policies[only], &a, p)
	}
	return d.applyAll(&a, p, general)
}

// applyAll charges a request to all policies that apply: some of the general
// ones, and those that the index has.
func (d *nativeDomain) applyAll(a *asking, p *Plan, general []int32) error {
	if d.index.filed == 0 {
		for _, n := range general {
			if err := d.apply(&d.policies[n], a, p); err != nil {
				return err
			}
		}
		return nil
	}
	found := d.index.find(&a.query, p.found[:0])
	p.found = found
	for len(found) > 0 || len(general) > 0 { // both are in order: merge them
		from := &general
		if len(general) == 0 || len(found) > 0 && found[0] < general[0] {
			from = &found
		}
		if err := d.apply(&d.policies[(*from)[0]], a, p); err != nil {
			return err
		}
		*from = (*from)[1:]
	}
	return nil
}

// check refuses a descriptor that no policy can be asked about.
func (d *nativeDomain) check(desc *weir.Descriptor) error {
	if desc.Limit != nil {
		return &weir.Error{
			Code: weir.CodeInvalid, Field: "limit",
			Message: "the limits of domain " + d.name + " are its policies', not the request's",
		}
	}
	return distinct(desc.Pairs)
}

// apply charges a request to a policy, if it applies.
func (d *nativeDomain) apply(pol *nativePolicy, a *asking, p *Plan) error {
	route, ok := pol.matches(&a.query)
	if !ok {
		return nil
	}
	values := p.values[:0]
	for _, name := range pol.by {
		v := keyValue(&a.query, name, route)
		if v == "" {
			return pol.lacks(name, a.named)
		}
		values = append(values, v)
	}
	limits := meters{all: pol.slots} // a release looks everywhere: the plan may have changed meanwhile
	if a.purpose == toCheck {
		limits = d.limitsOf(pol, &a.query, values, p.Now)
	}
	p.values = values
	partition := pol.tag
	switch {
	case pol.partition < 0:
	case len(values) == 1 && !pol.hides[0]: // as most are
		partition = values[0]
	default:
		return a.charge(d, pol, limits, p, p.locate(pol.parts(values, p)))
	}
	if pol.shards > 0 || limits.rates < len(limits.all) || a.purpose != toCheck {
		return a.charge(d, pol, limits, p, p.only(partition))
	}
	if limits.rates == 0 {
		return nil
	}
	cost := times(a.cost, pol.unitCost(&a.query))
	return p.chargePlain(pol.rule, limits.all, a.descriptor, modeOf(pol.rule, a.refund, a.spent), cost, partition)
}

// parts lists the values that the policy counts by, that of its partition first.
func (p *nativePolicy) parts(values []string, plan *Plan) []part {
	parts := append(plan.parts[:0], part{p.by[p.partition], values[p.partition], p.hides[p.partition]})
	for i := range values {
		if i != p.partition {
			parts = append(parts, part{p.by[i], values[i], p.hides[i]})
		}
	}
	plan.parts = parts
	return parts
}

// lacks is what becomes of a request without a dimension that the policy
// counts by: it does not apply, unless that was asked for. A policy in shadow
// asks for nothing.
func (p *nativePolicy) lacks(name string, named bool) error {
	if !p.require && !named || p.rule.Mode == weir.Shadow {
		return nil
	}
	return &weir.Error{
		Code: weir.CodeInvalid, Field: name,
		Message: "policy " + p.rule.ID + " needs the dimension " + name,
		Hint:    "send it with the request",
	}
}

// limitsOf picks the limits: the counter's own, the plan's, the policy's.
func (d *nativeDomain) limitsOf(pol *nativePolicy, q *query, values []string, now weir.Micros) meters {
	if own, ok := d.ownLimits(pol, values, now); ok {
		return own
	}
	if q.plan != "" && pol.plans != nil {
		if m, ok := pol.plans[q.plan]; ok {
			return m
		}
	}
	return pol.limits
}

// ownLimits are those of an override.
func (d *nativeDomain) ownLimits(pol *nativePolicy, values []string, now weir.Micros) (meters, bool) {
	if d.overrides == nil {
		return meters{}, false
	}
	own, ok := d.overrides.Limits(d.name, pol.rule.ID, values, now)
	return splitMeters(own), ok
}

// splitMeters finds where concurrency begins; an override gives it last, too.
func splitMeters(all []*weir.Meter) meters {
	n := 0
	for n < len(all) && all[n].Machine != weir.Slots {
		n++
	}
	return meters{all: all, rates: n}
}

// charge adds the charges. Units are charged at the policy's cost; a request
// in progress is one, whatever it costs, is given back by a release only, and
// is not begun by units that are spent already.
func (a *asking) charge(d *nativeDomain, pol *nativePolicy, limits meters, p *Plan, at *naming) error {
	mode := modeOf(pol.rule, a.refund, a.spent)
	rates, slots := limits.all[:limits.rates], limits.all[limits.rates:]
	if a.purpose == toCheck && len(rates) > 0 {
		if pol.shards > 0 {
			at.split, at.choice = p.split(&d.splitter, rates, pol.shards), p.choice(a.request.ID)
		}
		if err := p.charge(pol.rule, rates, a.descriptor, mode, times(a.cost, pol.unitCost(&a.query)), at); err != nil {
			return err
		}
	}
	if len(slots) == 0 || a.purpose == toCheck && (a.refund || a.spent) {
		return nil
	}
	at.split = nil
	one := min(a.cost, 1)
	if a.purpose == toRelease {
		one = 1
	}
	if a.request.ID == "" && one > 0 {
		if pol.rule.Mode == weir.Shadow {
			return nil
		}
		return &weir.Error{
			Code: weir.CodeInvalid, Field: "id",
			Message: "policy " + pol.rule.ID + " limits requests in progress",
			Hint:    "send a request id, and release it when the request is done",
		}
	}
	return p.charge(pol.rule, slots, a.descriptor, mode, one, at)
}

// times multiplies costs; what does not fit is the largest number.
func times(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}
