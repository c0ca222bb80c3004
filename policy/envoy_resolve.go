package policy

import (
	"slices"
	"strconv"

	"github.com/weirlimit/weir"
)

// resolve fills p with what the domain charges r. All descriptors are matched
// before any is charged: one may replace the rule of another.
func (d *envoyDomain) resolve(r *weir.Request, p *Plan) error {
	replacing := false
	for i := range r.Descriptors {
		p.Descriptors = append(p.Descriptors, Matched{})
		if d.match(&r.Descriptors[i], &p.Descriptors[i]) {
			replacing = true
		}
	}
	if replacing {
		replace(p.Descriptors)
	}
	for i := range p.Descriptors {
		if p.Descriptors[i].Rule == nil {
			continue
		}
		if err := d.charge(r, p, i); err != nil {
			return err
		}
	}
	p.Lasting = !p.varied && !p.Tallied
	return nil
}

// match finds the rule of a descriptor, and tells whether it replaces others. A
// limit that the request brings along takes the place of whatever is configured,
// name, flags and all.
func (d *envoyDomain) match(of *weir.Descriptor, m *Matched) (replaces bool) {
	if of.Limit != nil {
		m.Rule, m.node = d.override.rule, d.override
		return false
	}
	end := d.locate(of.Pairs)
	if end.rule == nil {
		return false
	}
	m.Rule, m.Unlimited, m.node, m.by = end.rule, end.rule.Unlimited, end.node, end.by
	return end.replaces
}

// replace drops the matches whose name is among the replaces of another. What
// is unlimited was not going to be counted, and stays.
func replace(ms []Matched) {
	for i := range ms {
		if ms[i].node == nil {
			continue
		}
		for _, name := range ms[i].node.replaced {
			for j := range ms {
				m := &ms[j]
				if m.Rule != nil && !m.Unlimited && m.node.name == name {
					m.Rule, m.Replaced = nil, m.Rule
				}
			}
		}
	}
}

// charge adds what descriptor i is charged under its rule.
func (d *envoyDomain) charge(r *weir.Request, p *Plan, i int) error {
	m, of := &p.Descriptors[i], &r.Descriptors[i]
	cost, err := costOf(r, of)
	if err != nil || m.Unlimited {
		return err
	}
	if of.Limit != nil {
		return d.chargeOverride(p, m, i, of, cost)
	}
	if m.Rule.Denies {
		m.denies(&m.Rule.Zero, of, cost)
		return nil
	}
	mode := modeOf(m.Rule, of.Refund, of.Spent)
	switch by := m.by; {
	case by == countsOne:
		return p.chargePlain(m.Rule, m.Rule.Windows, i, mode, cost, m.Rule.ID)
	case by != countsApart:
		return p.chargePlain(m.Rule, m.Rule.Windows, i, mode, cost, of.Pairs[by].Value)
	}
	p.parts = p.parts[:0]
	for k, j := range m.node.free {
		p.parts = append(p.parts, part{of.Pairs[j].Name, of.Pairs[j].Value, m.node.hides[k]})
	}
	return p.charge(m.Rule, m.Rule.Windows, i, mode, cost, p.locate(p.parts))
}

// chargeOverride charges a limit that came with the request. Its counter is
// named by the whole descriptor, and lives beside those of the tenant where the
// configuration tells which entry that is.
func (d *envoyDomain) chargeOverride(p *Plan, m *Matched, i int, of *weir.Descriptor, cost int64) error {
	if of.Limit.Limit.Count == 0 {
		m.denies(&of.Limit.Limit, of, cost)
		return nil
	}
	meters := [1]*weir.Meter{of.Limit}
	return p.charge(m.Rule, meters[:], i, modeOf(m.Rule, of.Refund, of.Spent), cost, d.ownCounter(p, of.Pairs))
}

// ownCounter names the counter of a descriptor that brings its limit along.
func (d *envoyDomain) ownCounter(p *Plan, pairs []weir.Pair) *naming {
	_, free := d.find(pairs)
	parts, private := p.parts[:0], false
	if free >= 0 {
		parts = append(parts, d.partOf(&pairs[free]))
	}
	for i := range pairs {
		value := d.partOf(&pairs[i])
		parts = append(parts, part{value: pairs[i].Name}, value)
		private = private || value.private
	}
	p.parts = parts
	switch {
	case free >= 0:
		return p.locate(parts)
	case private: // the slot is that of all of it, and so is the name
		at := p.named(parts)
		at.Hidden, at.Slot = true, p.slot("", p.whole(pairs))
		return at
	}
	return p.only(p.whole(pairs))
}

func (d *envoyDomain) partOf(pair *weir.Pair) part {
	return part{pair.Name, pair.Value, slices.Contains(d.private, pair.Name)}
}

// denies notes that a limit of 0 has no room for cost. A peek and a refund need
// none.
func (m *Matched) denies(zero *weir.Limit, of *weir.Descriptor, cost int64) {
	if cost > 0 && !of.Refund {
		m.Denies = zero
	}
}

// whole writes pairs so that no two lists of pairs are written alike: each text
// has its length before it.
func (p *Plan) whole(pairs []weir.Pair) string {
	start := len(p.keys)
	for i := range pairs {
		for _, text := range [...]string{pairs[i].Name, pairs[i].Value} {
			p.keys = strconv.AppendInt(p.keys, int64(len(text)), 10)
			p.keys = append(p.keys, ':')
			p.keys = append(p.keys, text...)
		}
	}
	return view(p.keys[start:])
}

// costOf is what a descriptor costs: its own word counts, 0 included; that of
// the request is 1 when it says nothing.
func costOf(r *weir.Request, of *weir.Descriptor) (int64, error) {
	cost := r.Cost
	if of.HasCost {
		cost = of.Cost
	} else if cost == 0 {
		cost = 1
	}
	if of.Refund && of.Spent {
		return 0, &weir.Error{Code: weir.CodeInvalid, Field: "spent", Message: "units are spent or given back, not both", Hint: "send two requests"}
	}
	if cost < 0 {
		return 0, &weir.Error{Code: weir.CodeInvalid, Field: "cost", Message: "is below 0", Hint: "set refund to give units back"}
	}
	return cost, nil
}
