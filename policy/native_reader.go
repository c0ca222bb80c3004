package policy

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// nativeReader turns YAML nodes into a NativeFile and collects what is wrong
// with them.
type nativeReader struct {
	file     string
	problems []Problem
	reads    int // of values
}

// field is one key of a mapping: how it is read and what editors are told. The
// tables of fields are the one place where keys are known: the parser and the
// JSON Schema both go by them.
type nativeField[T any] struct {
	key   string
	doc   string
	shape func() shape
	must  bool
	read  func(r *nativeReader, n *yaml.Node, into *T)
}

// readFields reads a mapping by its table. It tells whether n is one.
func readFields[T any](r *nativeReader, n *yaml.Node, what string, fields []nativeField[T], into *T) bool {
	before := len(r.problems)
	var missing []string
	for _, f := range fields {
		if f.must {
			missing = append(missing, f.key)
		}
	}
	ok := r.entries(n, what, func(key string, k, v *yaml.Node) {
		i := slices.IndexFunc(fields, func(f nativeField[T]) bool { return f.key == key })
		if i < 0 {
			r.unknownKey(k, what, key, keysOf(fields))
			return
		}
		missing = slices.DeleteFunc(missing, func(m string) bool { return m == key })
		fields[i].read(r, v, into)
	})
	if !ok {
		return false
	}
	if len(r.problems) > before {
		return true // what is missing may be what is misspelt
	}
	for _, key := range missing {
		r.problem(n, "missing-key", "", "%s has no %s", what, key)
	}
	return true
}

func keysOf[T any](fields []nativeField[T]) []string {
	keys := make([]string, len(fields))
	for i := range fields {
		keys[i] = fields[i].key
	}
	return keys
}

// entries visits the entries of a mapping. It tells whether n is one.
func (r *nativeReader) entries(n *yaml.Node, what string, visit func(key string, k, v *yaml.Node)) bool {
	n = r.enter(n)
	if n.Kind != yaml.MappingNode {
		r.wrongType(n, what, "a mapping")
		return false
	}
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content) && !r.full(); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		key, ok := r.text(k, "a key of "+what)
		if !ok {
			continue
		}
		if line, twice := seen[key]; twice {
			r.problem(k, "duplicate-key", "keep one of them", "%s has %s twice, first in line %d", what, quoted(key), line)
			continue
		}
		seen[key] = k.Line
		visit(key, k, v)
	}
	return true
}

// items visits the elements of a list, or the one value that stands for a list
// of one. It tells whether there is any.
func (r *nativeReader) items(n *yaml.Node, what string, most int, visit func(*yaml.Node)) bool {
	n = r.enter(n)
	if n.Kind != yaml.SequenceNode {
		visit(n)
		return true
	}
	if len(n.Content) == 0 {
		r.problem(n, "empty", "leave the key out, or give it a value", "%s is an empty list", what)
		return false
	}
	if len(n.Content) > most {
		r.problem(n, "too-large", "", "%s has %d elements, more than %d", what, len(n.Content), most)
		return false
	}
	for _, v := range n.Content {
		if r.full() {
			break
		}
		visit(v)
	}
	return true
}

// text reads a scalar as it was written: 007 stays 007.
func (r *nativeReader) text(n *yaml.Node, what string) (string, bool) {
	n = r.enter(n)
	if n.Kind != yaml.ScalarNode {
		r.wrongType(n, what, "text")
		return "", false
	}
	switch n.ShortTag() {
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp", "!!merge":
		return n.Value, true
	case "!!null":
		r.problem(n, "empty", "leave the key out, or give it a value", "%s is empty", what)
	default:
		r.problem(n, "wrong-type", "remove the tag", "%s has the tag %s", what, n.ShortTag())
	}
	return "", false
}

// enter follows an alias, and counts: a short file can name a long list often.
func (r *nativeReader) enter(n *yaml.Node) *yaml.Node {
	if r.reads++; r.reads == maxNativeReads {
		r.problem(n, "too-large", "write values out instead of using aliases", "the file has too many values")
	}
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// full tells that it is not worth, or not safe, to read on.
func (r *nativeReader) full() bool {
	return r.reads >= maxNativeReads || len(r.problems) >= maxProblems
}

func (r *nativeReader) wrongType(n *yaml.Node, what, want string) {
	got := map[yaml.Kind]string{yaml.MappingNode: "a mapping", yaml.SequenceNode: "a list", yaml.ScalarNode: "text"}[n.Kind]
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		got = "empty"
	}
	r.problem(n, "wrong-type", "", "%s is %s, want %s", what, got, want)
}

func (r *nativeReader) unknownKey(n *yaml.Node, what, key string, known []string) {
	hint := "one of " + strings.Join(known, ", ")
	if best := nearest(key, known); best != "" {
		hint = "did you mean " + best + "?"
	} else if special := keyHints[key]; special != "" {
		hint = special
	}
	r.problem(n, "unknown-key", hint, "%s has no key %s", what, quoted(key))
}

// keyHints are for keys of other formats that stand here often.
var keyHints = map[string]string{
	"descriptors":       "a file with descriptors is of Envoy's format and has no policies",
	"rate_limit":        "write limits: [100/s]",
	"requests_per_unit": "write limits: [100/s]",
	"rate":              "write limits: [100/s]",
	"unit":              "write limits: [100/s]",
	"name":              "a policy's name is its id",
	"key":               "did you mean by?",
	"group_by":          "did you mean by?",
	"fail_mode":         "did you mean on_failure?",
	"fail_open":         "write on_failure: open",
	"shadow_mode":       "write mode: shadow",
	"shadow":            "write mode: shadow",
	"timeout":           "did you mean deadline?",
	"weight":            "did you mean cost?",
	"hits":              "did you mean cost?",
	"<<":                "merge keys are not read: write the values out",
}

func (r *nativeReader) problem(n *yaml.Node, code, hint, format string, args ...any) {
	r.problemAt(n.Line, n.Column, code, hint, format, args...)
}

func (r *nativeReader) problemAt(line, column int, code, hint, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, Problem{
			At:   Position{File: r.file, Line: line, Column: column},
			Code: code, Hint: hint, Message: fmt.Sprintf(format, args...),
		})
	}
}

func (r *nativeReader) at(n *yaml.Node) Position {
	return Position{File: r.file, Line: n.Line, Column: n.Column}
}

// quoted writes what somebody wrote into a message, within bounds.
func quoted(text string) string {
	const most = 60
	if len(text) > most {
		text = text[:most] + "..."
	}
	return fmt.Sprintf("%q", text)
}
