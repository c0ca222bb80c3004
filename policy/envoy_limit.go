package policy

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir"
)

// envoyUnits are the words for a window's unit, in lower case.
var envoyUnits = []struct {
	name string
	span weir.Micros
}{
	{"second", weir.Second},
	{"minute", weir.Minute},
	{"hour", weir.Hour},
	{"day", weir.Day},
	{"week", weir.Week},
	{"month", weir.Month},
	{"year", weir.Year},
}

// unitSpan returns 0 for what is not a unit.
func unitSpan(name string) weir.Micros {
	for _, u := range envoyUnits {
		if strings.EqualFold(name, u.name) {
			return u.span
		}
	}
	return 0
}

// envoyLimits are the fields of a descriptor that hold its limits; their nodes
// are nil when not written.
type envoyLimits struct {
	one  envoyField // rate_limit
	more envoyField // rate_limits
}

// limits reads both into d.
func (p *envoyParser) limits(d *EnvoyDescriptor, l envoyLimits) {
	if n := l.one.value; n != nil && !isNull(n) {
		if n.Kind != yaml.MappingNode {
			p.failYAML(p.at(n), fmt.Sprintf("rate_limit is %s, not a map", kindOf(n)), "for several limits write rate_limits")
		} else {
			p.rateLimit(d, n)
		}
	}
	more := p.elements(l.more)
	for _, n := range more {
		w := p.window(n, inLimits)
		p.addLimit(d, w)
	}
	switch {
	case len(more) > 0 && d.Unlimited:
		p.fail(p.at(l.more.key), "limits-when-unlimited", "should not specify rate_limits when unlimited", "remove one of the two")
	case len(d.Limits) > maxEnvoyLimits:
		p.fail(p.at(l.more.key), "too-many-limits", fmt.Sprintf("%d limits on one descriptor", len(d.Limits)),
			fmt.Sprintf("at most %d", maxEnvoyLimits))
	case len(d.Limits) > 1 && d.Quota:
		p.fail(p.at(l.more.key), "limits-with-quota", "quota_mode takes one limit",
			"a quota passes while any of them has room, which several limits on one descriptor must not")
	}
}

// rateLimit reads the map behind rate_limit.
func (p *envoyParser) rateLimit(d *EnvoyDescriptor, n *yaml.Node) {
	w := p.window(n, inLimit)
	d.Name, d.Unlimited = w.name, w.unlimited
	if w.unlimited {
		if w.limit.Window != 0 {
			p.fail(p.at(w.unit.value), "unit-when-unlimited", "should not specify rate limit unit when unlimited", "remove unit or unlimited")
		}
		for _, f := range []envoyField{w.count, w.multiplier, w.algorithm, w.burst} {
			if f.key != nil {
				p.warn(p.at(f.key), "ignored-key", f.key.Value+" has no meaning beside unlimited", "remove it or unlimited")
			}
		}
	} else {
		p.addLimit(d, w)
	}
	for _, e := range p.elements(w.replaces) {
		p.replaced(d, e)
	}
}

// replaced reads an element of replaces.
func (p *envoyParser) replaced(d *EnvoyDescriptor, n *yaml.Node) {
	name := ""
	for _, f := range p.known(n, inReplaces) {
		name = p.text(f)
	}
	switch {
	case name == "":
		p.fail(p.at(n), "empty-replaces", "should not have an empty replaces entry", "write - name: and the name of the rate_limit to replace")
	case name == d.Name:
		p.fail(p.at(n), "self-replaces", "replaces should not contain name of same descriptor", "a limit cannot take the place of itself")
	}
	d.Replaces = append(d.Replaces, name)
}

// envoyWindow is a limit as it is read, and where its fields stand; those not
// written are zero.
type envoyWindow struct {
	limit     EnvoyLimit
	name      string
	unlimited bool

	at                                                  *yaml.Node
	unit, count, multiplier, algorithm, burst, replaces envoyField
}

// place is where a field was written, or the limit that lacks it.
func (w *envoyWindow) place(f envoyField) *yaml.Node {
	if f.value != nil {
		return f.value
	}
	return w.at
}

// window reads a map of kind m: rate_limit, or an element of rate_limits.
func (p *envoyParser) window(n *yaml.Node, m envoyMap) *envoyWindow {
	w := &envoyWindow{at: n}
	for _, f := range p.known(n, m) {
		switch f.key.Value {
		case "unit":
			w.unit = f
		case "requests_per_unit":
			w.count = f
		case "unit_multiplier":
			w.multiplier = f
		case "algorithm":
			w.algorithm = f
		case "burst":
			w.burst = f
		case "unlimited":
			w.unlimited = p.truth(f)
		case "name":
			w.name = p.text(f)
		case "replaces":
			w.replaces = f
		}
	}
	w.limit.At = p.at(n)
	if w.unit.value != nil {
		w.limit.Window = unitSpan(p.text(w.unit))
	}
	return w
}

// addLimit reads the rest of w, checks it, and adds it to d.
func (p *envoyParser) addLimit(d *EnvoyDescriptor, w *envoyWindow) {
	l, ok := &w.limit, true
	if l.Window == 0 {
		p.failUnit(w)
		ok = false
	}
	ok = p.multiply(w) && ok
	ok = p.countOf(w) && ok
	ok = p.algorithmOf(w) && ok
	if w.burst.value != nil {
		var read bool
		if l.Burst, read = p.number(w.burst); !read {
			ok = false
		}
	}
	if ok && p.valid(w) && p.distinct(d, w) {
		d.Limits = append(d.Limits, *l)
	}
}
