package policy

import "strings"

// wildcard stands for any characters, none included. It has no escape: values
// with a '*' of their own are matched by it as well.
const wildcard = "*"

// pattern is a text with wildcards, split at them: a*b is {"a", "b"}. A
// pattern without wildcards has one part. The zero value matches nothing.
type pattern struct {
	parts []string
}

func newPattern(text string) pattern { return pattern{parts: strings.Split(text, wildcard)} }

func (p pattern) String() string { return strings.Join(p.parts, wildcard) }

// literal tells whether the pattern matches one text only.
func (p pattern) literal() bool { return len(p.parts) == 1 }

// prefix is what every text that matches starts with.
func (p pattern) prefix() string { return p.parts[0] }

// match takes time in proportion to len(text) for each part: the leftmost
// place for a part is always as good as any, so that it never goes back.
func (p pattern) match(text string) bool {
	if len(p.parts) == 0 {
		return false
	}
	first, last := p.parts[0], p.parts[len(p.parts)-1]
	if len(p.parts) == 1 {
		return text == first
	}
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range p.parts[1 : len(p.parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}

// covers tells whether p matches whatever other does. It may say no where the
// answer is yes.
func (p pattern) covers(other pattern) bool {
	if other.literal() {
		return p.match(other.prefix())
	}
	// Read other's own wildcards as a character: p can only take it in with one
	// of its own.
	return p.match(other.String())
}
