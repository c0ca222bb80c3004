package policy

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// envoyKeys are the words of the format, and which kind of map each belongs in.
// The service knows one list for all maps and ignores a word in the wrong one.
var envoyKeys = map[string]envoyMap{
	"domain":            inRoot,
	"descriptors":       inRoot | inDescriptor,
	"key":               inDescriptor,
	"value":             inDescriptor,
	"rate_limit":        inDescriptor,
	"shadow_mode":       inDescriptor,
	"quota_mode":        inDescriptor,
	"detailed_metric":   inDescriptor,
	"value_to_metric":   inDescriptor,
	"share_threshold":   inDescriptor,
	"metadata":          inDescriptor,
	"unit":              inLimit | inLimits,
	"requests_per_unit": inLimit | inLimits,
	"unlimited":         inLimit,
	"name":              inLimit | inReplaces,
	"replaces":          inLimit,

	"rate_limits":     inDescriptor | ours,
	"unit_multiplier": inLimit | inLimits | ours,
	"algorithm":       inLimit | inLimits | ours,
	"burst":           inLimit | inLimits | ours,
}

// envoyMap is a set of kinds of map.
type envoyMap uint8

const (
	inRoot       envoyMap = 1 << iota
	inDescriptor          // an element of descriptors
	inLimit               // rate_limit
	inLimits              // an element of rate_limits
	inReplaces            // an element of replaces

	ours // a word that the service does not know
)

func (m envoyMap) String() string {
	switch {
	case m&inRoot != 0 && m&inDescriptor == 0:
		return "the top level of the file"
	case m&inDescriptor != 0:
		return "a descriptor"
	case m&inLimit != 0:
		return "rate_limit"
	case m&inLimits != 0:
		return "rate_limits"
	}
	return "replaces"
}

// checkKeys is the first pass: it looks at every map and list of the file, knows
// no structure, and says what the service says. What it lets through is finite
// and has known names only. It returns false after an error: what a misspelt key
// lacks elsewhere is not worth a message of its own.
func (p *envoyParser) checkKeys(root *yaml.Node) bool {
	p.checkMap(root, 0)
	p.checked = true
	return !p.failed
}

func (p *envoyParser) checkMap(n *yaml.Node, depth int) {
	if !p.shallow(n, depth) {
		return
	}
	for _, f := range p.fields(n) {
		name := f.key.Value
		switch {
		case f.key.Kind != yaml.ScalarNode || f.key.Tag != "!!str":
			p.fail(p.at(f.key), "key-not-string", "config error, key is not of type string: "+textOf(f.key), "quote it, if it is meant")
			continue
		case envoyKeys[name] == 0:
			p.fail(p.at(f.key), "unknown-key", fmt.Sprintf("config error, unknown key '%s'", shorten(name)), hintOfKey(name))
			continue
		}
		if name == "metadata" {
			p.checkFree(f.value, depth+1)
			continue
		}
		switch f.value.Kind {
		case yaml.MappingNode:
			p.checkMap(f.value, depth+1)
		case yaml.SequenceNode:
			p.checkList(f.value, depth+1)
		}
	}
}

func (p *envoyParser) checkList(n *yaml.Node, depth int) {
	if !p.spend(len(n.Content), n) {
		return
	}
	for _, e := range n.Content {
		if m := follow(e); m.Kind == yaml.MappingNode {
			p.checkMap(m, depth)
			continue
		}
		p.fail(p.at(e), "list-not-of-maps", "config error, yaml file contains list of type other than map: "+textOf(e),
			"write each element as name: value")
	}
}

// checkFree looks at metadata: its names are free, its size is not.
func (p *envoyParser) checkFree(n *yaml.Node, depth int) {
	if !p.shallow(n, depth) {
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		for _, f := range p.fields(n) {
			p.checkFree(f.value, depth+1)
		}
	case yaml.SequenceNode:
		if !p.spend(len(n.Content), n) {
			return
		}
		for _, e := range n.Content {
			p.checkFree(follow(e), depth+1)
		}
	}
}

// shallow bounds the recursion of both passes; an alias may stand for a map
// that it is a part of.
func (p *envoyParser) shallow(n *yaml.Node, depth int) bool {
	if depth <= maxYAMLDepth {
		return true
	}
	if !p.tooDeep {
		p.tooDeep = true
		p.failYAML(p.at(n), fmt.Sprintf("maps are nested deeper than %d levels", maxYAMLDepth),
			fmt.Sprintf("descriptors nest at most %d levels deep", maxEnvoyDepth))
	}
	return false
}

// hintOfKey proposes the word that was probably meant.
func hintOfKey(name string) string {
	if word := nearest(name, slices.Sorted(maps.Keys(envoyKeys))); word != "" {
		return fmt.Sprintf("did you mean '%s'?", word)
	}
	return "the format has no such key; comments begin with #"
}
