package reqlist

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weirlimit/weir"
)

// The bounds of a list.
const (
	MaxRequests    = 4_000_000
	MaxLine        = 16 << 10
	MaxDescriptors = 16
	MaxPairs       = 16
	MaxCost        = 1<<32 - 1
)

const (
	magic   = "weir-requests"
	version = "1"
)

// Read calls each for every request of a list, in order. The request is used
// again; its texts may be kept. An error of each ends the reading and is
// returned with the line.
func Read(from io.Reader, each func(r *weir.Request) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, MaxLine), MaxLine)
	if !lines.Scan() {
		return failed(lines.Err(), 1, "is missing")
	}
	if err := first(lines.Text()); err != nil {
		return err
	}
	var r weir.Request
	count := 0
	n := 1
	for ; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		if count++; count > MaxRequests {
			return wrong(n+1, fmt.Sprintf("there are more than %d requests", MaxRequests))
		}
		if err := parse(line, &r); err != nil {
			return wrong(n+1, err.Error())
		}
		if err := each(&r); err != nil {
			return wrong(n+1, err.Error())
		}
	}
	return failed(lines.Err(), n+1, "")
}

func first(line string) error {
	name, number, _ := strings.Cut(line, " ")
	switch {
	case name != magic:
		return wrong(1, fmt.Sprintf("is not %q", magic+" "+version))
	case number != version:
		return wrong(1, fmt.Sprintf("has version %q; this program reads version %s", number, version))
	}
	return nil
}

// failed is what is wrong when there is no line.
func failed(err error, line int, empty string) error {
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return wrong(line, fmt.Sprintf("has more than %d bytes", MaxLine))
	case err != nil:
		return fmt.Errorf("read requests: %w", err)
	case empty != "":
		return wrong(line, empty)
	}
	return nil
}

func wrong(line int, message string) error {
	return &weir.Error{
		Code: weir.CodeInvalid, Field: "line " + strconv.Itoa(line), Message: message,
		Hint: `a list begins with "` + magic + " " + version + `"; each line has domain, cost and descriptors, with tabs`,
	}
}

// parse reads a line into r, whose slices it uses again.
func parse(line string, r *weir.Request) error {
	if !utf8.ValidString(line) {
		return errors.New("is not UTF-8")
	}
	domain, rest, more := strings.Cut(line, "\t")
	cost, rest, more2 := strings.Cut(rest, "\t")
	if !more || !more2 {
		return errors.New("has fewer than three columns")
	}
	name, after, stop, err := word(domain, "")
	if err != nil || name == "" || stop != 0 || after != "" {
		return errors.New("has no domain")
	}
	n, err := strconv.ParseUint(cost, 10, 32)
	if err != nil {
		return fmt.Errorf("cost %q is not a number of 0 to %d", cost, MaxCost)
	}
	r.Domain, r.Cost, r.Descriptors = name, int64(n), r.Descriptors[:0]
	for more = true; more; {
		var text string
		text, rest, more = strings.Cut(rest, "\t")
		if len(r.Descriptors) == MaxDescriptors {
			return fmt.Errorf("has more than %d descriptors", MaxDescriptors)
		}
		d := weir.Descriptor{HasCost: n == 0}
		if d.Pairs, err = pairs(text); err != nil {
			return err
		}
		r.Descriptors = append(r.Descriptors, d)
	}
	return nil
}

func pairs(text string) ([]weir.Pair, error) {
	var out []weir.Pair
	for more := true; more; {
		name, rest, stop, err := word(text, "=,")
		if err != nil {
			return nil, err
		}
		if stop != '=' || name == "" {
			return nil, fmt.Errorf("%q is not name=value", text)
		}
		value, rest, stop, err := word(rest, ",")
		if err != nil {
			return nil, err
		}
		if len(out) == MaxPairs {
			return nil, fmt.Errorf("a descriptor has more than %d pairs", MaxPairs)
		}
		out = append(out, weir.Pair{Name: name, Value: value})
		text, more = rest, stop == ','
	}
	return out, nil
}

// word reads up to one of the stops, which it returns, or 0 for the end.
func word(text, stops string) (w, rest string, stop byte, err error) {
	end := strings.IndexAny(text, stops+`\`)
	switch {
	case end < 0:
		return text, "", 0, nil
	case text[end] != '\\':
		return text[:end], text[end+1:], text[end], nil
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case strings.IndexByte(stops, c) >= 0:
			return b.String(), text[i+1:], c, nil
		case c == '\\':
			i++
			if i == len(text) {
				return "", "", 0, errors.New("ends with a backslash")
			}
			at := strings.IndexByte(escaped, text[i])
			if at < 0 {
				return "", "", 0, fmt.Errorf(`\%c is no escape`, text[i])
			}
			c = plain[at]
		}
		b.WriteByte(c)
	}
	return b.String(), "", 0, nil
}

const (
	escaped = `\,=tnr`
	plain   = "\\,=\t\n\r"
)
