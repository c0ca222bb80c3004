package policy

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir/internal/yamldoc"
)

// Bounds on a native file. They leave room for 100,000 policies, and keep what a
// hostile file makes us build below a gigabyte.
const (
	maxNativeBytes = 10_000_000 - 1
	maxNativeMarks = 3 << 20 // a bound on YAML values, of some 200 bytes each while a file is read
	maxNativeReads = 8 << 20 // of values; aliases make one value many
	maxProblems    = 100     // that one file reports
)

// document reads data as one YAML document. It returns nil after a problem.
func (r *nativeReader) document(data []byte) *yaml.Node {
	if !r.plausible(data) {
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	root, err := yamldoc.Next(dec)
	if errors.Is(err, io.EOF) || err == nil && isNull(root) {
		r.problemAt(1, 1, "empty", "begin with policies:", "the file is empty")
		return nil
	}
	for err == nil { // an empty document behind the last --- is none
		var next *yaml.Node
		if next, err = yamldoc.Next(dec); err == nil && !isNull(next) {
			r.problem(next, "several-documents", "put each into a file of its own", "the file has more than one document")
			return nil
		}
	}
	if !errors.Is(err, io.EOF) {
		r.badYAML(err, data)
		return nil
	}
	return root
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// plausible refuses what is too much to parse, and bytes that no text has: the
// parser does not say where those are.
func (r *nativeReader) plausible(data []byte) bool {
	if len(data) > maxNativeBytes {
		r.problemAt(1, 1, "too-large", "split it: files may share a domain",
			"the file has %d bytes, more than %d", len(data), maxNativeBytes)
		return false
	}
	line, start, marks := 1, 0, 0
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			r.problemAt(line, i-start+1, "bad-text", "save it as UTF-8", "byte %#02x is not UTF-8", data[i])
			return false
		case c == 0x7f || c < ' ' && c != '\n' && c != '\r' && c != '\t':
			r.problemAt(line, i-start+1, "bad-text", "remove it, or write it as an escape in a quoted value",
				"control character %#02x", c)
			return false
		case strings.ContainsRune("\n,:-[{?", c):
			marks++ // every value stands behind one of these
		}
		i += size
		if c == '\n' {
			line, start = line+1, i
		}
	}
	if marks > maxNativeMarks {
		r.problemAt(1, 1, "too-large", "split it: files may share a domain", "the file has too many values")
		return false
	}
	return true
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// badYAML reports what the parser said, without its own name and line.
func (r *nativeReader) badYAML(err error, data []byte) {
	text, line := yamlError(err)
	if len(data) <= maxSearchBytes {
		line = searchLine(data, text)
	}
	r.problemAt(line, columnOfText(data, line), "bad-yaml", yamlHint(text), "%s", text)
}

func yamlError(err error) (text string, line int) {
	text, line = strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = strings.Replace(text, m[0], "", 1)
	}
	return text, max(line, 1)
}

// maxSearchBytes bounds the files in which searchLine is worth its time.
const maxSearchBytes = 256 << 10

// searchLine finds the line that makes the parser say text. The parser names
// the line where the broken list or mapping began, or none; the first lines of
// the file up to the broken one make it say the same.
func searchLine(data []byte, text string) int {
	var ends []int
	for i, c := range data {
		if c == '\n' || i == len(data)-1 {
			ends = append(ends, i+1)
		}
	}
	return 1 + sort.Search(len(ends)-1, func(i int) bool {
		dec := yaml.NewDecoder(bytes.NewReader(data[:ends[i]]))
		_, err := yamldoc.Next(dec)
		for err == nil {
			_, err = yamldoc.Next(dec)
		}
		found, _ := yamlError(err)
		return found == text
	})
}

func yamlHint(text string) string {
	switch {
	case strings.Contains(text, "alphabetic or numeric character"), strings.Contains(text, "unknown anchor"):
		return `quote a value that begins with *, as in "*-test"`
	case strings.Contains(text, "cannot start any token"):
		return "indent with spaces, and quote values that begin with @, ` or %"
	case strings.Contains(text, "mapping values are not allowed"):
		return "quote a value with a colon, or check the indentation"
	}
	return "check indentation, brackets and quotes here and in the line before"
}
