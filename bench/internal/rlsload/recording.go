package rlsload

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Recording is requests in their order. As text it has a line for each: domain,
// hits, and the descriptors, separated by blanks; descriptors are separated by
// "|", their entries by ",", key and value by "=".
//
//	shop 1 tenant=acme,path=/login|tenant=acme
//
// No text of a request may hold a blank, a control character or one of "|,=".
type Recording []Request

// maxLine bounds a line of a recording, in bytes.
const maxLine = 64 << 10

// WriteTo writes the recording as text.
func (r Recording) WriteTo(w io.Writer) (int64, error) {
	b := bufio.NewWriter(w)
	var n int64
	for _, req := range r {
		m, err := b.WriteString(req.String() + "\n")
		n += int64(m)
		if err != nil {
			return n, err
		}
	}
	return n, b.Flush()
}

// ReadRecording reads what WriteTo wrote.
func ReadRecording(src io.Reader) (Recording, error) {
	var out Recording
	lines := bufio.NewScanner(src)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		req, err := parseLine(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, req)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	return out, nil
}

// String is the request as a line of a recording.
func (r Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d ", r.Domain, r.Hits)
	for i, d := range r.Descriptors {
		if i > 0 {
			b.WriteByte('|')
		}
		for j, e := range d {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(e.Key + "=" + e.Value)
		}
	}
	return b.String()
}

func parseLine(line string) (Request, error) {
	words := strings.Split(line, " ")
	if len(words) != 3 {
		return Request{}, fmt.Errorf("want domain, hits and descriptors, have %d words", len(words))
	}
	hits, err := strconv.ParseUint(words[1], 10, 32)
	if err != nil || !plain(words[0]) {
		return Request{}, fmt.Errorf("bad domain %q or hits %q", words[0], words[1])
	}
	r := Request{Domain: words[0], Hits: uint32(hits)}
	for text := range strings.SplitSeq(words[2], "|") {
		var d Descriptor
		for pair := range strings.SplitSeq(text, ",") {
			key, value, ok := strings.Cut(pair, "=")
			if !ok || !plain(key) || value != "" && !plain(value) {
				return Request{}, fmt.Errorf("bad entry %q", pair)
			}
			d = append(d, Entry{key, value})
		}
		r.Descriptors = append(r.Descriptors, d)
	}
	return r, nil
}

// plain reports whether a text can be part of a line.
func plain(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c <= ' ' || c == 0x7f || strings.ContainsRune("|,=", c)
	})
}
