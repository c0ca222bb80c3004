package identityfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/nearest"
	"github.com/weirlimit/weir/internal/yamldoc"
)

// maxProblems is how many of them one file reports.
const maxProblems = 20

// reader collects what is wrong with a file.
type reader struct {
	file     string
	of       string // the key whose value is read
	problems []string
}

// field is a key of a mapping and what reads its value.
type field struct {
	key     string
	must    bool
	example string // of a key that must be there, for who left it out
	read    func(n *yaml.Node)
}

// err is all that is wrong, nil for nothing.
func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return &weir.Error{Code: weir.CodeInvalid, Message: strings.Join(r.problems, "\n")}
}

func (r *reader) full() bool { return len(r.problems) >= maxProblems }

// wrong reports a problem at a place, and what to do about it.
func (r *reader) wrong(at *yaml.Node, hint, format string, args ...any) {
	if r.full() {
		return
	}
	text := fmt.Sprintf("%s:%d:%d: %s", r.file, max(1, at.Line), max(1, at.Column), fmt.Sprintf(format, args...))
	if hint != "" {
		text += " (" + hint + ")"
	}
	r.problems = append(r.problems, text)
}

// wrongValue reports a problem with the value of a key, which it names.
func (r *reader) wrongValue(at *yaml.Node, hint, format string, args ...any) {
	r.wrong(at, hint, "%s: %s", r.of, fmt.Sprintf(format, args...))
}

// refuse reports an error of another package at a place.
func (r *reader) refuse(at *yaml.Node, err error) {
	if err != nil {
		r.wrong(at, "", "%s", err)
	}
}

// document reads the one document of a file. It returns nil after a problem.
func (r *reader) document(data []byte, most int) *yaml.Node {
	top := &yaml.Node{Line: 1, Column: 1}
	if len(data) > most {
		r.wrong(top, "", "the file has more than %d bytes", most)
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	root, err := yamldoc.Next(dec)
	if errors.Is(err, io.EOF) {
		r.wrong(top, "", "the file is empty")
		return nil
	}
	if err == nil {
		if _, err = yamldoc.Next(dec); err == nil {
			r.wrong(top, "keep one", "the file has more than one document")
			return nil
		}
	}
	if !errors.Is(err, io.EOF) {
		text := strings.TrimPrefix(err.Error(), "yaml: ")
		if line, rest, ok := strings.Cut(strings.TrimPrefix(text, "line "), ": "); ok {
			if n, err := strconv.Atoi(line); err == nil {
				top.Line, text = n, rest
			}
		}
		r.wrong(top, "check indentation, brackets and quotes", "%s", text)
		return nil
	}
	return root
}

// mapping reads the keys of a mapping. It tells whether n is one.
func (r *reader) mapping(n *yaml.Node, what string, fields []field) bool {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, "write key: value", "%s is not a mapping", what)
		return false
	}
	var keys []string
	for _, f := range fields {
		keys = append(keys, f.key)
	}
	before, seen := len(r.problems), map[string]bool{}
	for i := 0; i+1 < len(n.Content) && !r.full(); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		at := slices.Index(keys, k.Value)
		switch {
		case k.Kind != yaml.ScalarNode || at < 0:
			hint := "one of " + strings.Join(keys, ", ")
			if best := nearest.Of(k.Value, keys); best != "" {
				hint = "did you mean " + best + "? " + hint
			}
			r.wrong(k, hint, "%s has no key %q", what, clip(k.Value))
		case seen[k.Value]:
			r.wrong(k, "keep one of them", "%s has %s twice", what, k.Value)
		default:
			seen[k.Value] = true
			outer := r.of
			r.of = k.Value
			fields[at].read(v)
			r.of = outer
		}
	}
	for _, f := range fields {
		if f.must && !seen[f.key] && len(r.problems) == before {
			hint := ""
			if f.example != "" {
				hint = "for example " + f.key + ": " + f.example
			}
			r.wrong(n, hint, "%s has no %s", what, f.key)
		}
	}
	return true
}

// text reads a value that is not empty, as it was written.
func (r *reader) text(into *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		switch {
		case n.Kind == yaml.AliasNode:
			r.wrongValue(n, "write the value out", "aliases are not read")
		case n.Kind != yaml.ScalarNode:
			r.wrongValue(n, "", "want a text")
		case n.ShortTag() == "!!null" || n.Value == "":
			r.wrongValue(n, "leave the key out, or give it a value", "the value is empty")
		default:
			*into = n.Value
		}
	}
}

// list reads a list of texts, or one text that stands for a list of one.
func (r *reader) list(each func(n *yaml.Node, text string)) func(*yaml.Node) {
	return func(n *yaml.Node) {
		items := []*yaml.Node{n}
		if n.Kind == yaml.SequenceNode {
			items = n.Content
			if len(items) == 0 {
				r.wrongValue(n, "leave the key out, or give it a value", "the list is empty")
			}
		}
		for _, item := range items {
			var s string
			if r.text(&s)(item); s != "" && !r.full() {
				each(item, s)
			}
		}
	}
}

func (r *reader) texts(into *[]string) func(*yaml.Node) {
	return r.list(func(_ *yaml.Node, s string) { *into = append(*into, s) })
}

func (r *reader) truth(into *bool) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.Value != "true" && n.Value != "false" {
			r.wrongValue(n, "", "want true or false")
			return
		}
		*into = n.Value == "true"
	}
}

func (r *reader) number(into *int, low, high int) func(*yaml.Node) {
	return func(n *yaml.Node) {
		v, err := strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || v < low || v > high {
			r.wrongValue(n, "", "want a number from %d to %d", low, high)
			return
		}
		*into = v
	}
}

func (r *reader) duration(into *time.Duration) func(*yaml.Node) {
	return func(n *yaml.Node) {
		d, err := time.ParseDuration(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || d <= 0 {
			r.wrongValue(n, "for example 30s or 15m", "want a time span")
			return
		}
		*into = d
	}
}

// clip bounds what is repeated of somebody's text.
func clip(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}
