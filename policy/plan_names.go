package policy

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/key"
	"github.com/weirlimit/weir/internal/pseudonym"
)

// part is a value that tells a counter from others of its rule.
type part struct {
	name, value string
	private     bool // it goes by its pseudonym
}

// naming names a counter: under the salt in force and, while salts change,
// under another one too.
type naming struct {
	key.Key
	parts   []part   // what Values were made of
	private bool     // at least one of them is
	twin    []string // Values under the other salt; nil until they are needed

	split  [][]*weir.Meter // the parts of each limit, where counters are split; else nil
	choice uint64          // which of them
}

// locate names the counter of parts, the first of which is its partition.
// Neither they nor the naming outlive the next call.
func (p *Plan) locate(parts []part) *naming {
	if first := &parts[0]; first.private {
		at := p.named(parts)
		at.Hidden, at.Slot = true, p.slot(first.name, first.value)
		return at
	}
	at := p.named(parts[1:])
	at.Partition = parts[0].value
	return at
}

// only names a counter that its partition tells from others.
func (p *Plan) only(partition string) *naming {
	at := p.named(nil)
	at.Partition = partition
	return at
}

// named names the counter of parts, and leaves its partition to the caller.
func (p *Plan) named(parts []part) *naming {
	at := &p.at
	at.Partition, at.Hidden, at.Slot, at.Shard = "", false, 0, 0
	at.split = nil
	at.parts, at.private, at.twin = parts, false, nil
	p.values = p.values[:0]
	for i := range parts {
		if text := parts[i].value; !parts[i].private {
			p.values = append(p.values, text)
			continue
		}
		at.private = true
		p.values = append(p.values, p.pseudonym(p.phaseNow().Key, parts[i].name, parts[i].value))
	}
	at.Values = p.values
	return at
}

// twinOf is the counter's other name, and what is to be done with it. The rest
// of its key is that of the first name.
func (p *Plan) twinOf(at *naming, horizon weir.Micros) (string, weir.Twinning) {
	phase := p.phaseNow()
	twinning := phase.Twinning(horizon)
	if twinning == weir.TwinNone {
		return "", weir.TwinNone
	}
	if at.twin == nil {
		start := len(p.values)
		for i := range at.parts {
			text := at.parts[i].value
			if at.parts[i].private {
				text = p.pseudonym(phase.Twin, at.parts[i].name, text)
			}
			p.values = append(p.values, text)
		}
		at.twin = p.values[start:]
	}
	other := at.Key
	other.Values = at.twin
	return p.key(&other), twinning
}

// phaseNow is the phase of Plan.Now, found when it is first asked for: most
// requests meet no limit by a private value.
func (p *Plan) phaseNow() *pseudonym.Phase {
	if !p.phased {
		ring := p.Ring
		if ring == nil {
			ring = pseudonym.Unsalted()
		}
		p.hasher.Use(ring)
		p.phase, p.phased = ring.At(p.Now), true
	}
	return &p.phase
}

// digested is a private value of the request and one of its pseudonyms, or its
// slot.
type digested struct {
	name, value string
	salt        int // or slotOf
	text        string
	slot        uint16
}

// slotOf stands for a salt in digested.
const slotOf = -1

// recentDigests is how far back a digest is looked for. Policies of a request
// count by the same few values, and comparing them costs less than hashing one.
const recentDigests = 8

func (p *Plan) pseudonym(salt int, name, value string) string {
	if d := p.known(salt, name, value); d != nil {
		return d.text
	}
	start := len(p.keys)
	p.keys = p.hasher.Append(p.keys, salt, name, value)
	text := view(p.keys[start:])
	p.digests = append(p.digests, digested{name: name, value: value, salt: salt, text: text})
	return text
}

func (p *Plan) slot(name, value string) uint16 {
	p.phaseNow()
	if d := p.known(slotOf, name, value); d != nil {
		return d.slot
	}
	slot := p.hasher.Slot(name, value)
	p.digests = append(p.digests, digested{name: name, value: value, salt: slotOf, slot: slot})
	return slot
}

func (p *Plan) known(salt int, name, value string) *digested {
	for i := len(p.digests) - 1; i >= max(0, len(p.digests)-recentDigests); i-- {
		if d := &p.digests[i]; d.salt == salt && d.value == value && d.name == name {
			return d
		}
	}
	return nil
}
