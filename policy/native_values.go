package policy

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// bounded reads text of 1 to most bytes.
func (r *nativeReader) bounded(n *yaml.Node, what string, most int) (string, bool) {
	text, ok := r.text(n, what)
	switch {
	case !ok:
		return "", false
	case text == "":
		r.problem(n, "empty", "leave the key out, or give it a value", "%s is empty", what)
		return "", false
	case len(text) > most:
		r.problem(n, "too-large", "", "%s has %d bytes, more than %d", what, len(text), most)
		return "", false
	}
	return text, true
}

// dimensionPattern is dimension's rule for editors.
const dimensionPattern = `^[A-Za-z_][A-Za-z0-9_.:/-]{0,63}$`

// dimension reads the name of a dimension.
func (r *nativeReader) dimension(n *yaml.Node, what string) (string, bool) {
	name, ok := r.text(n, what)
	if !ok || !r.dimensionName(n, what, name) {
		return "", false
	}
	return name, true
}

func (r *nativeReader) dimensionName(n *yaml.Node, what, name string) bool {
	ok := name != "" && len(name) <= 64 && (name[0] < '0' || name[0] > '9')
	for i, c := range []byte(name) {
		ok = ok && (isWordByte(c) || i > 0 && strings.IndexByte(".:/-", c) >= 0)
	}
	if !ok {
		r.problem(n, "bad-value", "a name such as tenant, user, ip, route, api_key or region",
			"%s: %s is not a dimension's name", what, quoted(name))
	}
	return ok
}

func isWordByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func (r *nativeReader) number(n *yaml.Node, what string, least, most int64) (int64, bool) {
	if v := r.enter(n); v.Kind != yaml.ScalarNode {
		r.wrongType(v, what, "a whole number")
		return 0, false
	}
	text, ok := r.text(n, what)
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		r.problem(n, "bad-number", "", "%s is %s, want a whole number", what, quoted(text))
		return 0, false
	}
	if v < least || v > most {
		r.problem(n, "bad-number", "", "%s is %s, outside %d to %d", what, quoted(text), least, most)
		return 0, false
	}
	return v, true
}

func (r *nativeReader) boolean(n *yaml.Node, what string) (value, ok bool) {
	text, ok := r.text(n, what)
	if !ok {
		return false, false
	}
	if text != "true" && text != "false" {
		r.problem(n, "wrong-type", "", "%s is %s, want true or false", what, quoted(text))
		return false, false
	}
	return text == "true", true
}

// word reads one of a list of words and returns its index.
func (r *nativeReader) word(n *yaml.Node, what string, known []string) (int, bool) {
	text, ok := r.text(n, what)
	if !ok {
		return 0, false
	}
	i := slices.Index(known, text)
	if i < 0 {
		hint := ""
		if best := nearest(text, known); best != "" {
			hint = "did you mean " + best + "?"
		}
		r.problem(n, "bad-value", hint, "%s is %s, want %s", what, quoted(text), strings.Join(known, " or "))
	}
	return i, i >= 0
}

func (r *nativeReader) duration(n *yaml.Node, what string, least, most time.Duration) (time.Duration, bool) {
	text, ok := r.text(n, what)
	if !ok {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		r.problem(n, "bad-duration", "write a number and a unit, for example 5ms", "%s is %s, want a duration", what, quoted(text))
		return 0, false
	}
	if d < least || d > most {
		r.problem(n, "bad-duration", "", "%s is %s, outside %s to %s", what, quoted(text), least, most)
		return 0, false
	}
	return d, true
}
