package policyfile

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/weirlimit/weir/policy"
)

// Format is the language a policy file is written in.
type Format uint8

// The formats.
const (
	Unknown Format = iota
	Envoy          // domain and descriptors, as envoyproxy/ratelimit reads them
	Native         // policies, as Weir has them
)

// Keys that tell the formats apart. A domain alone is Envoy's: there it is an
// empty domain, which is allowed, and here it would be nothing.
var (
	nativeKeys = []string{"policies", "tenants"}
	envoyKeys  = []string{"descriptors"}
	eitherKeys = []string{"domain"}
)

// Detect returns the format of a file, by the keys at its top. A problem, when
// there is one, says why it has none, or two.
func Detect(name string, data []byte) (Format, *policy.Problem) {
	keys := topKeys(data)
	native, envoy, either := find(keys, nativeKeys), find(keys, envoyKeys), find(keys, eitherKeys)
	switch {
	case native != nil && envoy != nil:
		second := native
		if envoy.after(native) {
			second = envoy
		}
		return Unknown, second.problem(name, "mixed-formats", "has both '"+envoy.name+"' (Envoy's format) and '"+native.name+"' (Weir's)",
			"put them into two files")
	case native != nil:
		return Native, nil
	case envoy != nil, either != nil:
		return Envoy, nil
	case !isText(data):
		return Unknown, start.problem(name, "bad-text", "is not UTF-8 text", "save it as UTF-8; '>' of Windows PowerShell writes UTF-16")
	case len(keys) > 0:
		return Unknown, keys[0].problem(name, "unknown-format", "'"+keys[0].name+"' begins neither Weir's format nor Envoy's",
			"write 'policies:', or 'domain:' and 'descriptors:'")
	case len(bytes.TrimSpace(data)) == 0:
		return Unknown, start.problem(name, "empty-file", "is empty", "write 'policies:', or 'domain:' and 'descriptors:'")
	}
	return Unknown, start.problem(name, "unknown-format", "is not a mapping", "write 'policies:', or 'domain:' and 'descriptors:'")
}

// isText tells UTF-8 from UTF-16, where letters have zeros beside them, and other
// bytes.
func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// start is where a file begins: what is wrong there is that it begins otherwise.
var start = topKey{line: 1, column: 1}

// topKey is a key of the mapping that a file is.
type topKey struct {
	name         string
	line, column int
}

func (k *topKey) after(o *topKey) bool {
	return k.line > o.line || k.line == o.line && k.column > o.column
}

func (k *topKey) problem(name, code, message, hint string) *policy.Problem {
	p := problem(name, code, message, hint)
	p.At.Line, p.At.Column = k.line, k.column
	return &p
}

func find(keys []topKey, among []string) *topKey {
	for i := range keys {
		for _, name := range among {
			if keys[i].name == name {
				return &keys[i]
			}
		}
	}
	return nil
}

// topKeys reads the keys of the first document, without parsing the rest: files
// are large, and the parser of the format does that. In block style they begin
// a line and nothing else at the top does; braces mean flow style, or JSON.
func topKeys(data []byte) []topKey {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var keys []topKey
	begun := false
	for line := 1; len(data) > 0; line++ {
		text, rest, _ := bytes.Cut(data, []byte("\n"))
		text = bytes.TrimRight(text, "\r \t")
		bare := bytes.TrimLeft(text, " \t")
		switch {
		case len(bare) == 0, bare[0] == '#':
		case isMark(text, "..."), isMark(text, "---") && begun:
			return keys
		case isMark(text, "---"), text[0] == '%':
			if after := bytes.TrimSpace(text[min(3, len(text)):]); text[0] == '-' && len(after) > 0 && after[0] == '{' {
				return flowKeys(data, line)
			}
		case !begun && bare[0] == '{':
			return flowKeys(data, line)
		default:
			begun = true
			if len(bare) == len(text) { // not indented
				if name, ok := blockKey(string(text)); ok {
					keys = append(keys, topKey{name, line, 1})
				}
			}
		}
		data = rest
	}
	return keys
}

// isMark tells whether a line begins with a document mark.
func isMark(line []byte, mark string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(mark))
	return ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t')
}

// blockKey returns the key that a line at the top begins with.
func blockKey(line string) (string, bool) {
	if q := line[0]; q == '"' || q == '\'' {
		name, rest, ok := strings.Cut(line[1:], string(q))
		return name, ok && strings.HasPrefix(strings.TrimLeft(rest, " \t"), ":")
	}
	name, rest, ok := strings.Cut(line, ":")
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' || strings.ContainsAny(name, "{}[]#&*!|>'\"%@`") || strings.HasPrefix(name, "- ") {
		return "", false
	}
	return strings.TrimRight(name, " \t"), true
}
