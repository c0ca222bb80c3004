package policy

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// text reads a string. A number or a truth value is the text it was written as.
func (p *envoyParser) text(f envoyField) string {
	if isNull(f.value) {
		return ""
	}
	if f.value.Kind != yaml.ScalarNode {
		p.failYAML(p.at(f.value), fmt.Sprintf("%s is %s, not a string", f.key.Value, kindOf(f.value)), "")
		return ""
	}
	return f.value.Value
}

// intern returns one copy of texts that come again and again.
func (p *envoyParser) intern(text string) string {
	if had, ok := p.interned[text]; ok {
		return had
	}
	p.interned[text] = text
	return text
}

// truth reads a truth value, in the words of YAML 1.1 too: the service does.
func (p *envoyParser) truth(f envoyField) bool {
	n := f.value
	if isNull(n) {
		return false
	}
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
		switch strings.ToLower(n.Value) {
		case "true", "yes", "on", "y":
			return true
		case "false", "no", "off", "n":
			return false
		}
	}
	p.failYAML(p.at(n), fmt.Sprintf("%s is %s, not a truth value", f.key.Value, kindOf(n)), "write true or false")
	return false
}

// number reads a whole number from 0 to 4294967295, the service's uint32.
func (p *envoyParser) number(f envoyField) (int64, bool) {
	n := f.value
	if isNull(n) {
		return 0, true
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!int" {
		// YAML 1.1 allows underscores between digits, and octal after 0.
		text := strings.TrimPrefix(strings.ReplaceAll(n.Value, "_", ""), "+")
		if v, err := strconv.ParseUint(text, 0, 32); err == nil {
			return int64(v), true
		}
	}
	p.failYAML(p.at(n), fmt.Sprintf("%s is %s, not a whole number from 0 to 4294967295", f.key.Value, kindOf(n)), "")
	return 0, false
}

// metadata reads a free map.
func (p *envoyParser) metadata(f envoyField) map[string]any {
	if isNull(f.value) {
		return nil
	}
	if f.value.Kind != yaml.MappingNode {
		p.failYAML(p.at(f.value), fmt.Sprintf("metadata is %s, not a map", kindOf(f.value)), "")
		return nil
	}
	m, _ := p.free(f.value, 0).(map[string]any)
	return m
}

// free reads what may hold anything. Keys become text. checkFree has bounded it.
func (p *envoyParser) free(n *yaml.Node, depth int) any {
	if depth > maxYAMLDepth {
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for _, f := range p.fields(n) {
			name := f.key.Value
			if f.key.Kind != yaml.ScalarNode {
				name = textOf(f.key)
			}
			m[name] = p.free(f.value, depth+1)
		}
		return m
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, e := range n.Content {
			list[i] = p.free(follow(e), depth+1)
		}
		return list
	}
	return freeScalar(n)
}

func freeScalar(n *yaml.Node) any {
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool", "!!int", "!!float":
		var v any
		if n.Decode(&v) != nil {
			break
		}
		switch v := v.(type) {
		case bool, int64, uint64, float64:
			return v
		case int:
			return int64(v)
		}
	}
	return n.Value
}
