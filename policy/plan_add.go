package policy

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
)

// quotaGroup is the group of all quota charges of a request.
const quotaGroup = 1

// charge adds what a rule asks of one descriptor: a charge per meter. at names
// the counter: its partition and values; the rest comes from the rule and the
// meter.
func (p *Plan) charge(r *Rule, meters []*weir.Meter, descriptor int, d *weir.Descriptor, cost int64, at *naming) error {
	mode := r.Mode
	switch {
	case d.Refund:
		mode = weir.Refund
	case d.Spent && mode == weir.Enforce: // a rule in shadow builds no debt, of units spent either
		mode = weir.Always
	}
	for n, m := range meters {
		at.Domain, at.Rule, at.Algorithm, at.Window = r.Domain, r.ID, m.Limit.Algorithm, m.Limit.Window
		var parts []*weir.Meter
		charged := m
		if at.Shard = 0; at.split != nil {
			parts = at.split[n]
			chosen := pick(at.choice, len(parts))
			at.Shard, charged = uint8(chosen+1), parts[chosen]
		}
		c := weir.Charge{Key: p.name(r, m, at), Meter: charged, Cost: cost, Mode: mode, Group: groupOf(r, mode)}
		if at.private {
			c.Twin, c.Twinning = p.twinOf(at, horizonOf(m, r.Mode))
		}
		i, err := p.add(c)
		if err != nil {
			return err
		}
		p.Uses = append(p.Uses, Use{Rule: r, Meter: m, Descriptor: descriptor, Charge: i, Cost: cost, Parts: parts})
	}
	p.tighten(r)
	return nil
}

func groupOf(r *Rule, mode weir.Mode) uint8 {
	if r.Quota && (mode == weir.Enforce || mode == weir.Always) {
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
	for i := range r.rests {
		if r.rests[i].meter == m {
			return r.rests[i].rest
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
		if len(r.rests) < maxRests && r.rest(m) == "" {
			k := key.Key{Domain: r.Domain, Rule: r.ID, Algorithm: m.Limit.Algorithm, Window: m.Limit.Window}
			r.rests = append(r.rests, keyRest{m, string(key.AppendRest(nil, &k))})
		}
	}
}

// add returns the index of the charge with that key, adding the costs where
// there is one.
func (p *Plan) add(c weir.Charge) (int, error) {
	for i := range p.Charges {
		have := &p.Charges[i]
		if have.Key != c.Key {
			continue
		}
		if have.Mode != c.Mode {
			return 0, &weir.Error{
				Code: weir.CodeInvalid, Field: "descriptors",
				Message: "two descriptors use one counter in different ways",
				Hint:    "charge and refund it in two requests",
			}
		}
		have.Cost += c.Cost
		if have.Cost < 0 { // two costs near the largest number
			have.Cost = int64(^uint64(0) >> 1)
		}
		return i, nil
	}
	if len(p.Charges) == weir.MaxCharges {
		return 0, &weir.Error{Code: weir.CodeInvalid, Field: "descriptors", Message: "too many limits apply to one request"}
	}
	p.Charges = append(p.Charges, c)
	return len(p.Charges) - 1, nil
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
