package httplimit

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// Two types of parameter that mean nothing here, and may be there.

// bytes reads a Byte Sequence: base64 between colons.
func (p *parser) bytes() bool {
	p.take(':')
	text, rest, ok := strings.Cut(p.rest, ":")
	if !ok || strings.ContainsAny(text, "\r\n") {
		return false
	}
	p.rest = rest
	encoding := base64.StdEncoding
	if !strings.HasSuffix(text, "=") {
		encoding = base64.RawStdEncoding // padding may be left out
	}
	_, err := encoding.DecodeString(text)
	return err == nil
}

// display reads a Display String after its percent sign: quoted, with UTF-8 as
// %xx.
func (p *parser) display() bool {
	if !p.take('"') {
		return false
	}
	var b []byte
	for p.rest != "" {
		c := p.rest[0]
		p.rest = p.rest[1:]
		switch {
		case c == '"':
			return utf8.Valid(b)
		case c < ' ' || c > '~':
			return false
		case c == '%':
			if len(p.rest) < 2 || !isHex(p.rest[0]) || !isHex(p.rest[1]) {
				return false
			}
			c = hexDigit(p.rest[0])<<4 | hexDigit(p.rest[1])
			p.rest = p.rest[2:]
		}
		b = append(b, c)
	}
	return false
}

func isHex(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' }

func hexDigit(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c - 'a' + 10
}
