package policy

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readFile is the second pass: it makes what was written of the maps that
// checkKeys has looked at. root is nil for an empty file.
func (p *envoyParser) readFile(f *EnvoyFile, root *yaml.Node) {
	f.At = Position{File: p.file, Line: 1, Column: 1}
	var descriptors *yaml.Node
	if root != nil {
		for _, e := range p.known(root, inRoot) {
			switch e.key.Value {
			case "domain":
				f.At = p.at(e.value)
				f.Domain = p.text(e)
			case "descriptors":
				descriptors = e.value
			}
		}
	}
	if f.Domain == "" {
		p.fail(f.At, "empty-domain", "config file cannot have empty domain", "begin the file with domain: and the name that requests send")
	}
	f.Descriptors = p.descriptors(descriptors, &envoyPath{text: f.Domain}, 1)
}

// envoyPath is where a node stands, for messages.
type envoyPath struct {
	up   *envoyPath
	text string
}

func (at *envoyPath) String() string {
	if at.up == nil {
		return at.text
	}
	return at.up.String() + "." + at.text
}

// known lists the fields of a map of kind m that have a place there.
func (p *envoyParser) known(n *yaml.Node, m envoyMap) []envoyField {
	fields := p.fields(n)
	kept := fields[:0]
	for _, f := range fields {
		if places := envoyKeys[f.key.Value]; places&m != 0 {
			kept = append(kept, f)
		} else {
			p.misplaced(f.key, places, m)
		}
	}
	return kept
}

// misplaced reports a word in the wrong kind of map. The service ignores its
// own there, so that a file with one must load.
func (p *envoyParser) misplaced(key *yaml.Node, places, m envoyMap) {
	belongs := fmt.Sprintf("it belongs into %s, not into %s", places, m)
	if places&ours != 0 || m == inLimits {
		p.fail(p.at(key), "misplaced-key", fmt.Sprintf("config error, unknown key '%s'", key.Value), belongs)
		return
	}
	p.warn(p.at(key), "misplaced-key", fmt.Sprintf("key '%s' has no meaning here and is ignored", key.Value), belongs)
}

// elements lists the maps of a list. checkKeys has seen to it that there is
// nothing else in it.
func (p *envoyParser) elements(f envoyField) []*yaml.Node {
	if f.value == nil || isNull(f.value) {
		return nil
	}
	if f.value.Kind != yaml.SequenceNode {
		p.failYAML(p.at(f.value), fmt.Sprintf("%s is %s, not a list", f.key.Value, kindOf(f.value)),
			"write each element on a line of its own, after a dash")
		return nil
	}
	maps := make([]*yaml.Node, len(f.value.Content))
	for i, e := range f.value.Content {
		maps[i] = follow(e)
	}
	return maps
}

// descriptors reads a list of siblings.
func (p *envoyParser) descriptors(list *yaml.Node, up *envoyPath, depth int) []EnvoyDescriptor {
	maps := p.elements(envoyField{key: &yaml.Node{Value: "descriptors"}, value: list})
	if len(maps) == 0 {
		return nil
	}
	if depth > maxEnvoyDepth {
		p.failYAML(p.at(list), fmt.Sprintf("descriptors are nested deeper than %d levels", maxEnvoyDepth),
			"a request would need as many entries in one descriptor")
		return nil
	}
	ds := make([]EnvoyDescriptor, len(maps))
	first := make(map[string]int, len(maps))
	for i, n := range maps {
		d := &ds[i]
		here := p.descriptor(d, n, up, depth)
		if d.Key == "" {
			continue
		}
		if j, twice := first[here.text]; twice {
			p.failDuplicate(d, here.String(), &ds[j])
			continue
		}
		first[here.text] = i
	}
	return ds
}

func (p *envoyParser) failDuplicate(d *EnvoyDescriptor, path string, first *EnvoyDescriptor) {
	p.report(duplicateDescriptor(d, path, first))
}

func duplicateDescriptor(d *EnvoyDescriptor, path string, first *EnvoyDescriptor) Problem {
	hint := "the first is at " + first.At.String()
	if d.Key != first.Key {
		hint += "; a key and a value are named together, joined with '_'"
	}
	return Problem{
		At: d.At, Code: "duplicate-descriptor", Hint: hint,
		Message: fmt.Sprintf("duplicate descriptor composite key '%s'", path),
	}
}

// descriptor reads one node and what is below it, and returns its place.
func (p *envoyParser) descriptor(d *EnvoyDescriptor, n *yaml.Node, up *envoyPath, depth int) *envoyPath {
	d.At = p.at(n)
	var limits envoyLimits
	var below, share *yaml.Node
	for _, f := range p.known(n, inDescriptor) {
		switch f.key.Value {
		case "key":
			d.Key = p.intern(p.text(f))
		case "value":
			d.Value = p.text(f)
		case "rate_limit":
			limits.one = f
		case "rate_limits":
			limits.more = f
		case "descriptors":
			below = f.value
		case "shadow_mode":
			d.Shadow = p.truth(f)
		case "quota_mode":
			d.Quota = p.truth(f)
		case "detailed_metric":
			d.DetailedMetric = p.truth(f)
		case "value_to_metric":
			d.ValueToMetric = p.truth(f)
		case "share_threshold":
			d.ShareThreshold, share = p.truth(f), f.key
		case "metadata":
			d.Metadata = p.metadata(f)
		}
	}
	if d.Key == "" {
		p.fail(d.At, "empty-key", "descriptor has empty key", "every descriptor needs key:, the name of an entry that requests send")
	}
	p.limits(d, limits)
	p.checkWildcard(d, share)
	here := &envoyPath{up: up, text: d.composite()}
	d.Descriptors = p.descriptors(below, here, depth+1)
	return here
}

// checkWildcard looks at where a '*' stands, and where it should.
func (p *envoyParser) checkWildcard(d *EnvoyDescriptor, share *yaml.Node) {
	if d.ShareThreshold && !strings.Contains(d.composite(), wildcard) {
		p.fail(p.at(share), "share-threshold",
			fmt.Sprintf("share_threshold can only be used with wildcard values (containing '*'), but found key '%s'", d.composite()),
			"give the descriptor a value with a '*', or remove share_threshold")
	}
	if strings.Contains(d.Key, wildcard) {
		p.warn(d.At, "wildcard-in-key", fmt.Sprintf("the '*' in key '%s' is not a wildcard", shorten(d.Key)),
			"keys are compared as they are; a '*' has its meaning in value")
	}
}
