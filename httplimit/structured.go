package httplimit

import "strings"

// Bounds on what is read of a server's fields.
const (
	maxFieldBytes = 8 << 10
	maxMembers    = 32
)

// member is one String of a List, with the parameters that mean something here.
type member struct {
	name       string
	r, t, q, w int64 // below 0 when absent, or not an Integer of 0 or more
	unit       string
}

// parseList reads a structured field (RFC 9651) whose type is a List of
// Strings. What is no such field, in any part of it, is none at all: that is
// how the standard has it, so that nobody acts on half of one.
func parseList(lines []string) ([]member, bool) {
	text := strings.Join(lines, ",")
	if len(text) > maxFieldBytes {
		return nil, false
	}
	p := parser{strings.Trim(text, " ")}
	var out []member
	for p.rest != "" {
		m := member{r: -1, t: -1, q: -1, w: -1}
		var ok bool
		if m.name, ok = p.str(); !ok || !p.parameters(&m) || len(out) == maxMembers {
			return nil, false
		}
		out = append(out, m)
		if p.rest = strings.TrimLeft(p.rest, " \t"); p.rest == "" {
			return out, true
		}
		if !p.take(',') {
			return nil, false
		}
		if p.rest = strings.TrimLeft(p.rest, " \t"); p.rest == "" {
			return nil, false // a comma with nothing after it
		}
	}
	return out, true
}

// parser is what is left to read.
type parser struct{ rest string }

func (p *parser) peek() byte {
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

func (p *parser) take(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// while takes the longest run of bytes that is accepts.
func (p *parser) while(is func(byte) bool) string {
	i := 0
	for i < len(p.rest) && is(p.rest[i]) {
		i++
	}
	run := p.rest[:i]
	p.rest = p.rest[i:]
	return run
}

// parameters reads what follows an item, and keeps what is known.
func (p *parser) parameters(m *member) bool {
	for p.take(';') {
		p.rest = strings.TrimLeft(p.rest, " ")
		if c := p.peek(); !isLower(c) && c != '*' {
			return false
		}
		key := p.while(isKey)
		v := value{integer: -1} // a parameter without a value is true
		if p.take('=') {
			var ok bool
			if v, ok = p.bare(); !ok {
				return false
			}
		}
		switch key {
		case "r":
			m.r = v.integer
		case "t":
			m.t = v.integer
		case "q":
			m.q = v.integer
		case "w":
			m.w = v.integer
		case "qu":
			m.unit = v.text
		}
	}
	return true
}

// value is a bare item; integer is below 0 unless it is an Integer of 0 or
// more, text is empty unless it is a String.
type value struct {
	integer int64
	text    string
}

// bare reads an item of any type.
func (p *parser) bare() (value, bool) {
	none := value{integer: -1}
	switch c := p.peek(); {
	case c == '"':
		s, ok := p.str()
		return value{-1, s}, ok
	case c == '-' || isDigit(c):
		return p.number()
	case c == '@':
		p.take('@')
		before := p.rest
		_, ok := p.number()
		return none, ok && !strings.Contains(before[:len(before)-len(p.rest)], ".")
	case c == '?':
		p.take('?')
		return none, p.take('0') || p.take('1')
	case c == ':':
		return none, p.bytes()
	case c == '%':
		p.take('%')
		return none, p.display()
	case isAlpha(c) || c == '*':
		p.while(isToken)
		return none, true
	}
	return none, false
}

// str reads a String: visible ASCII and spaces, with \" and \\ escaped.
func (p *parser) str() (string, bool) {
	if !p.take('"') {
		return "", false
	}
	var b strings.Builder
	for p.rest != "" {
		c := p.rest[0]
		p.rest = p.rest[1:]
		switch {
		case c == '"':
			return b.String(), true
		case c == '\\':
			if c = p.peek(); c != '"' && c != '\\' {
				return "", false
			}
			p.rest = p.rest[1:]
		case c < ' ' || c > '~':
			return "", false
		}
		b.WriteByte(c)
	}
	return "", false
}

// number reads an Integer of up to 15 digits, or a Decimal of up to 12 and 3.
func (p *parser) number() (value, bool) {
	negative := p.take('-')
	digits := p.while(isDigit)
	if digits == "" || len(digits) > 15 {
		return value{}, false
	}
	if p.take('.') {
		fraction := p.while(isDigit)
		return value{integer: -1}, len(digits) <= 12 && len(fraction) >= 1 && len(fraction) <= 3
	}
	n := int64(0)
	for _, c := range []byte(digits) {
		n = n*10 + int64(c-'0')
	}
	if negative && n > 0 {
		n = -1
	}
	return value{integer: n}, true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isAlpha(c byte) bool { return isLower(c|0x20) && (c >= 'A') }
func isKey(c byte) bool {
	return isLower(c) || isDigit(c) || strings.IndexByte("_-.*", c) >= 0
}

func isToken(c byte) bool {
	return isAlpha(c) || isDigit(c) || c != 0 && strings.IndexByte("!#$%&'*+-.^_`|~:/", c) >= 0
}
