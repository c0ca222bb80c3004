package policy

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
)

// quotaGroup is the group of all quota charges of a request.
const quotaGroup = 1

// modeOf is the mode of a rule's charges for units that are given back, or spent
// already.
func modeOf(r *Rule, refund, spent bool) weir.Mode {
	switch {
	case refund:
		return weir.Refund
	case spent && r.Mode == weir.Enforce: // a rule in shadow builds no debt, of units spent either
		return weir.Always
	case r.watches():
		return weir.Always
	}
	return r.Mode
}

// chargePlain is charge for counters that their partition alone tells apart, and
// that are not split: as most are. It names them without a naming.
func (p *Plan) chargePlain(r *Rule, meters []*weir.Meter, descriptor int, mode weir.Mode, cost int64, partition string) error {
	for n, m := range meters {
		rest := r.rest(m)
		if rest == "" { // an override's
			return p.charge(r, meters[n:], descriptor, mode, cost, p.only(partition))
		}
		start := len(p.keys)
		p.keys = key.AppendTagged(p.keys, partition, rest)
		name := view(p.keys[start:])
		i, fresh := 0, true
		if len(p.Charges) == 0 {
			p.add(name)
		} else {
			var err error
			if i, fresh, err = p.counter(name); err != nil {
				return err
			}
		}
		if c := &p.Charges[i]; fresh {
			c.Meter, c.Cost, c.Mode, c.Group = m, cost, mode, groupOf(r, mode)
		} else if err := join(c, m, cost, mode); err != nil {
			return err
		}
		p.use(r, m, descriptor, i, cost)
		p.tally(r, fresh, cost)
	}
	p.tighten(r)
	return nil
}

// use adds a Use of a counter that is not split. It is written in place: a
// literal would be copied.
func (p *Plan) use(r *Rule, m *weir.Meter, descriptor, charge int, cost int64) {
	n := len(p.Uses)
	if n == cap(p.Uses) {
		p.Uses = append(p.Uses, Use{})
	}
	p.Uses = p.Uses[:n+1]
	u := &p.Uses[n]
	u.Rule, u.Meter, u.Descriptor, u.Charge, u.Cost, u.Parts = r, m, descriptor, charge, cost, nil
}

// charge adds what a rule asks of one descriptor: a charge per meter. at names
// the counter: its partition and values; the rest comes from the rule and the
// meter.
func (p *Plan) charge(r *Rule, meters []*weir.Meter, descriptor int, mode weir.Mode, cost int64, at *naming) error {
	p.varied = true // names are made in too many ways to tell
	for n, m := range meters {
		at.Domain, at.Rule, at.Algorithm, at.Window = r.Domain, r.ID, m.Limit.Algorithm, m.Limit.Window
		var parts []*weir.Meter
		charged := m
		if at.Shard = 0; at.split != nil {
			parts = at.split[n]
			chosen := pick(at.choice, len(parts))
			at.Shard, charged = uint8(chosen+1), parts[chosen]
		}
		i, fresh, err := p.counter(p.name(r, m, at))
		if err != nil {
			return err
		}
		if c := &p.Charges[i]; fresh {
			c.Meter, c.Cost, c.Mode, c.Group = charged, cost, mode, groupOf(r, mode)
			if at.private {
				c.Twin, c.Twinning = p.twinOf(at, horizonOf(m, mode))
			}
		} else if err := join(c, charged, cost, mode); err != nil {
			return err
		}
		p.Uses = append(p.Uses, Use{Rule: r, Meter: m, Descriptor: descriptor, Charge: i, Cost: cost, Parts: parts})
		p.tally(r, fresh, cost)
	}
	p.tighten(r)
	return nil
}

func groupOf(r *Rule, mode weir.Mode) uint8 {
	if r.Quota && !r.watches() && (mode == weir.Enforce || mode == weir.Always) {
		return quotaGroup
	}
	return 0
}

// name is the name of the rule's counter under m: of most, no more is written
// than the partition.
func (p *Plan) name(r *Rule, m *weir.Meter, at *naming) string {
	rest := r.rest(m)
	if rest == "" || at.Hidden || len(at.Values) > 0 {
		return p.key(&at.Key)
	}
	start := len(p.keys)
	if at.Shard > 0 {
		p.keys = key.AppendShard(p.keys, at.Shard, at.Partition)
	} else {
		p.keys = key.AppendTag(p.keys, at.Partition)
	}
	p.keys = append(p.keys, rest...)
	return view(p.keys[start:])
}

// key encodes a counter's name. Encoding may move the plan's memory; names that
// were given out before stay valid in the old.
func (p *Plan) key(k *key.Key) string {
	start := len(p.keys)
	p.keys = key.Append(p.keys, k)
	return view(p.keys[start:])
}

// keyRest is what the keys of a rule's counters under one limit end in, when
// nothing but the partition tells them apart.
type keyRest struct {
	meter *weir.Meter
	rest  string
}

// rest returns what was prepared for m, or nothing: an override has limits of
// its own.
func (r *Rule) rest(m *weir.Meter) string {
	if r.first.meter == m {
		return r.first.rest
	}
	if r.others != nil {
		for i := range *r.others {
			if other := &(*r.others)[i]; other.meter == m {
				return other.rest
			}
		}
	}
	return ""
}

// maxRests is how many rests are prepared: finding one is a walk over them, and
// must be quicker than writing it.
const maxRests = 8

// prepare makes the rests of the keys under these limits.
func (r *Rule) prepare(meters []*weir.Meter) {
	for _, m := range meters {
		if r.rest(m) != "" || r.others != nil && len(*r.others) == maxRests {
			continue
		}
		k := key.Key{Domain: r.Domain, Rule: r.ID, Algorithm: m.Limit.Algorithm, Window: m.Limit.Window}
		rest := keyRest{m, string(key.AppendRest(nil, &k))}
		if r.first.meter == nil {
			r.first = rest
			continue
		}
		if r.others == nil {
			r.others = new([]keyRest)
		}
		*r.others = append(*r.others, rest)
	}
}

// counter returns the index of the charge to that key, and whether it is a new
// one, of which the key is set and that it has no twin.
func (p *Plan) counter(name string) (i int, fresh bool, err error) {
	for i := range p.Charges {
		if p.Charges[i].Key == name {
			return i, false, nil
		}
	}
	n := len(p.Charges)
	if n == weir.MaxCharges {
		return 0, false, &weir.Error{Code: weir.CodeInvalid, Field: "descriptors", Message: "too many limits apply to one request"}
	}
	p.add(name)
	return n, true, nil
}

// add adds a charge to a key that has none. It is written in place.
func (p *Plan) add(name string) {
	n := len(p.Charges)
	if n == cap(p.Charges) {
		p.Charges = append(p.Charges, weir.Charge{})
	}
	p.Charges = p.Charges[:n+1]
	c := &p.Charges[n]
	c.Key, c.Twinning, c.Twin = name, weir.TwinNone, ""
}

// join adds to what a counter is charged already. Where two limits meet in it, as
// those of two plans do, the tighter holds.
func join(c *weir.Charge, m *weir.Meter, cost int64, mode weir.Mode) error {
	if c.Mode != mode {
		return &weir.Error{
			Code: weir.CodeInvalid, Field: "descriptors",
			Message: "two descriptors use one counter in different ways",
			Hint:    "charge and refund it in two requests",
		}
	}
	if tighter(m, c.Meter) {
		c.Meter = m
	}
	c.Cost += cost
	if c.Cost < 0 { // two costs near the largest number
		c.Cost = int64(^uint64(0) >> 1)
	}
	return nil
}

// strictness orders the fail modes.
var strictness = [...]int{FailOpen: 0, FailLocal: 1, FailClosed: 2}

func (p *Plan) tighten(r *Rule) {
	if r.Mode == weir.Shadow {
		return // what changes no answer has no say in how one fails
	}
	if strictness[r.Fail] > strictness[p.Fail] {
		p.Fail = r.Fail
	}
	if r.Deadline > 0 && (p.Deadline == 0 || r.Deadline < p.Deadline) {
		p.Deadline = r.Deadline
	}
}

// tighter tells whether m admits less than other, of one counter and so of the same
// algorithm and window.
func tighter(m, other *weir.Meter) bool {
	if m.Capacity != other.Capacity {
		return m.Capacity < other.Capacity
	}
	return m.Limit.Count < other.Limit.Count
}
