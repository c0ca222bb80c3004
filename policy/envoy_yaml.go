package policy

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// envoyField is one entry of a map, with aliases followed and merges done.
type envoyField struct {
	key, value *yaml.Node
}

func (p *envoyParser) at(n *yaml.Node) Position {
	return Position{File: p.file, Line: n.Line, Column: n.Column}
}

func (p *envoyParser) report(problem Problem) {
	p.failed = p.failed || !problem.Warning
	if len(p.problems) < maxProblems {
		p.problems = append(p.problems, problem)
		return
	}
	p.unreported++
}

func (p *envoyParser) fail(at Position, code, message, hint string) {
	p.report(Problem{At: at, Code: code, Message: message, Hint: hint})
}

func (p *envoyParser) warn(at Position, code, message, hint string) {
	p.report(Problem{At: at, Warning: true, Code: code, Message: message, Hint: hint})
}

// failYAML is for what keeps the file from being read at all.
func (p *envoyParser) failYAML(at Position, message, hint string) {
	p.fail(at, "yaml", "error loading config file: "+message, hint)
}

// spend takes n fields from what may yet be read. Each field of a file takes a
// byte at least, so that only aliases of aliases use it up.
func (p *envoyParser) spend(n int, at *yaml.Node) bool {
	if p.checked {
		return true // the second pass reads what the first did
	}
	if p.budget < 0 {
		return false
	}
	if p.budget -= n; p.budget < 0 {
		p.failYAML(p.at(at), "document contains excessive aliasing", "write out what the YAML aliases stand for")
		return false
	}
	return true
}

// fields lists the entries of map n: its own first, then those it merges in
// with <<, where a name that was had before does not count.
func (p *envoyParser) fields(n *yaml.Node) []envoyField {
	to, merges := p.ownFields(n)
	if len(merges) == 0 {
		return to
	}
	var all seen
	for _, f := range to {
		all.add(f.key)
	}
	for _, m := range merges {
		to = p.merge(to, &all, m, 1)
	}
	return to
}

// ownFields splits the entries of map n from what stands behind its <<.
func (p *envoyParser) ownFields(n *yaml.Node) (own []envoyField, merges []*yaml.Node) {
	if !p.spend(len(n.Content)/2+1, n) {
		return nil, nil
	}
	own = make([]envoyField, 0, len(n.Content)/2)
	var names seen
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], follow(n.Content[i+1])
		if key.Tag == "!!merge" {
			merges = append(merges, value)
			continue
		}
		key = follow(key)
		own = append(own, envoyField{key, value})
		if p.checked {
			continue // once is enough
		}
		if first := names.add(key); first != nil {
			p.failYAML(p.at(key), fmt.Sprintf("mapping key %q already defined at line %d", shorten(key.Value), first.Line),
				"keep one of the two")
		}
	}
	return own, merges
}

// merge adds the fields of what stands behind <<: a map, or a list of maps of
// which the first that has a name decides.
func (p *envoyParser) merge(to []envoyField, all *seen, n *yaml.Node, depth int) []envoyField {
	if n.Kind != yaml.SequenceNode {
		return p.mergeMap(to, all, n, depth)
	}
	if p.spend(len(n.Content), n) {
		for _, e := range n.Content {
			to = p.mergeMap(to, all, follow(e), depth)
		}
	}
	return to
}

func (p *envoyParser) mergeMap(to []envoyField, all *seen, n *yaml.Node, depth int) []envoyField {
	switch {
	case n.Kind != yaml.MappingNode:
		p.failYAML(p.at(n), "map merge requires map or sequence of maps as the value", "write <<: *name")
		return to
	case depth > maxYAMLDepth:
		p.failYAML(p.at(n), "merges are nested too deeply", "write out what << stands for")
		return to
	}
	own, merges := p.ownFields(n)
	for _, f := range own {
		if all.add(f.key) == nil {
			to = append(to, f)
		}
	}
	for _, m := range merges {
		to = p.merge(to, all, m, depth+1)
	}
	return to
}

// seen finds names that were had before. Scalars only: any other key is an
// error of its own. Few are searched, many hashed.
type seen struct {
	few  []*yaml.Node
	many map[string]*yaml.Node
}

// add returns the key that key repeats, or nil.
func (s *seen) add(key *yaml.Node) *yaml.Node {
	if key.Kind != yaml.ScalarNode {
		return nil
	}
	if s.many != nil {
		first := s.many[key.Value]
		if first == nil {
			s.many[key.Value] = key
		}
		return first
	}
	for _, k := range s.few {
		if k.Value == key.Value {
			return k
		}
	}
	if s.few = append(s.few, key); len(s.few) > 32 {
		s.many = make(map[string]*yaml.Node, 2*len(s.few))
		for _, k := range s.few {
			s.many[k.Value] = k
		}
	}
	return nil
}

// follow returns what an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	for range maxYAMLDepth {
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			break
		}
		n = n.Alias
	}
	return n
}

// kindOf says what n is, for people.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case "!!int", "!!float":
		return "the number " + shorten(n.Value)
	case "!!bool":
		return "the truth value " + shorten(n.Value)
	}
	return "the text '" + shorten(n.Value) + "'"
}

// textOf writes n the way the service's own messages do: Go's %v of what was
// read.
func textOf(n *yaml.Node) string {
	var b strings.Builder
	writeText(&b, n, 0)
	return shorten(b.String())
}

func writeText(b *strings.Builder, n *yaml.Node, depth int) {
	n = follow(n)
	if b.Len() > shortBytes || depth > maxYAMLDepth {
		return
	}
	switch {
	case isNull(n):
		b.WriteString("<nil>")
	case n.Kind == yaml.ScalarNode:
		b.WriteString(n.Value)
	case n.Kind == yaml.SequenceNode:
		b.WriteByte('[')
		for i, e := range n.Content {
			if i > 0 {
				b.WriteByte(' ')
			}
			writeText(b, e, depth+1)
		}
		b.WriteByte(']')
	default:
		b.WriteString("map[")
		for i, e := range n.Content {
			if i > 0 {
				b.WriteByte(" :"[i%2])
			}
			writeText(b, e, depth+1)
		}
		b.WriteByte(']')
	}
}

// shortBytes is how much of a text a message repeats.
const shortBytes = 64

func shorten(s string) string {
	if len(s) <= shortBytes {
		return s
	}
	return strings.ToValidUTF8(s[:shortBytes], "") + "..."
}
