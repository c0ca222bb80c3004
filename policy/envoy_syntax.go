package policy

import (
	"bytes"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/weirlimit/weir/internal/yamldoc"
)

var lineInText = regexp.MustCompile(`\bline \d+: `)

// failSyntax reports what the YAML library did not understand, and where.
func (p *envoyParser) failSyntax(err error, data []byte) {
	text, at := err.Error(), Position{File: p.file}
	if line := lineInText.FindString(text); line != "" {
		at.Line, _ = strconv.Atoi(strings.TrimSuffix(line[len("line "):], ": "))
		at.Line = faultyLine(data, at.Line, text)
		at.Column = columnOfText(data, at.Line)
		text = strings.Replace(text, line, fmt.Sprintf("line %d: ", at.Line), 1)
	} else {
		offset := oddByte(data)
		if _, name, ok := strings.Cut(text, "unknown anchor '"); ok {
			name, _, _ = strings.Cut(name, "'")
			offset = max(0, bytes.Index(data, []byte("*"+name)))
		}
		at.Line = 1 + bytes.Count(data[:offset], []byte("\n"))
		at.Column = offset - bytes.LastIndexByte(data[:offset], '\n')
	}
	p.failYAML(at, text, hintOfSyntax(text, data))
}

// maxSearched bounds what faultyLine parses over and over.
const maxSearched = 1 << 20

// faultyLine finds the line that makes data fail the way text says. Of a
// mistake within a list or a map the library names the line where that begins,
// which may be far above.
func faultyLine(data []byte, from int, text string) int {
	if !strings.Contains(text, "did not find expected") || len(data) > maxSearched {
		return from
	}
	ends := []int{0} // ends[n] is the length of the first n lines
	for i, c := range data {
		if c == '\n' || i == len(data)-1 {
			ends = append(ends, i+1)
		}
	}
	without := lineInText.ReplaceAllString(text, "")
	from = min(from, len(ends)-1)
	n := sort.Search(len(ends)-from, func(n int) bool {
		_, err := yamldoc.Next(yaml.NewDecoder(bytes.NewReader(data[:ends[from+n]])))
		return err != nil && lineInText.ReplaceAllString(err.Error(), "") == without
	})
	return min(from+n, len(ends)-1)
}

func columnOfText(data []byte, line int) int {
	for ; line > 1; line-- {
		_, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			return 1
		}
		data = rest
	}
	text, _, _ := bytes.Cut(data, []byte("\n"))
	return 1 + len(text) - len(bytes.TrimLeft(text, " \t"))
}

// oddByte is the offset of the first byte that no YAML file holds, or 0.
func oddByte(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		control := r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f
		if control || r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return 0
}

func hintOfSyntax(text string, data []byte) string {
	switch {
	case strings.Contains(text, "found character that cannot start any token") && bytes.Contains(data, []byte("\t")):
		return "indent with spaces: YAML takes no tabs"
	case strings.Contains(text, "max depth"):
		return fmt.Sprintf("descriptors nest at most %d levels deep", maxEnvoyDepth)
	case strings.Contains(text, "unknown anchor"):
		return "an alias (*name) needs an anchor (&name) before it"
	case strings.Contains(text, "did not find expected alphabetic"):
		return "quote a value that starts with '*' or '&'"
	case strings.Contains(text, "UTF-8") || strings.Contains(text, "control characters"):
		return "save the file as UTF-8 text"
	}
	return "check the indentation and quotes of this line and the one before"
}
