package respond

import (
	"strconv"

	"github.com/weirlimit/weir"
)

// Names longer than maxName bytes keep their first keepName, and a digest of
// the whole: paths of Envoy descriptors have no bound, header lines do.
const (
	maxName  = 96
	keepName = 80
)

// AppendName appends the name of the policy that binds, as all fields and
// bodies spell it.
func (a *Answer) AppendName(dst []byte) []byte {
	return a.appendName(dst, a.Decision.Rule, &a.Decision.Limit, false)
}

// appendName appends what a limit is called: its rule, and where several limits
// of the rule apply, also what sets it apart from them. In quotes, characters
// that would end the quotation are escaped, the same way for structured fields
// and for JSON.
func (a *Answer) appendName(dst []byte, rule string, l *weir.Limit, quoted bool) []byte {
	if rule == "" {
		dst = append(dst, "default"...) // a limiter in a program need not have a name
	}
	dst = appendText(dst, rule, quoted)
	several, sameWindow := a.siblings(rule, l)
	switch {
	case !several:
		return dst
	case l.Algorithm == weir.Concurrency:
		return append(dst, ":concurrency"...)
	}
	dst = appendWindow(append(dst, ':'), l.Window, false)
	if sameWindow {
		dst = append(append(dst, ':'), l.Algorithm.String()...)
	}
	return dst
}

// siblings tells whether other limits of the rule apply, and whether one of
// those has the same window, but another algorithm.
func (a *Answer) siblings(rule string, l *weir.Limit) (several, sameWindow bool) {
	for i := range a.Decision.Charges {
		c := &a.Decision.Charges[i]
		if c.Rule != rule || c.Limit == *l || !shown(c) {
			continue
		}
		several = true
		if c.Limit.Window == l.Window && c.Limit.Algorithm != l.Algorithm && c.Limit.Algorithm != weir.Concurrency {
			sameWindow = true
		}
	}
	return several, sameWindow
}

// appendText appends s in visible ASCII, which is all that header fields hold:
// other bytes, and the percent sign, become %XX, so that distinct texts stay
// distinct and a reader gets s back. Spaces stay, but not at the ends, where
// parsers drop them.
func appendText(dst []byte, s string, quoted bool) []byte {
	whole := s
	if len(s) > maxName {
		s = s[:keepName]
	}
	const digits = "0123456789ABCDEF"
	for i := range len(s) {
		c := s[i]
		switch {
		case c < ' ' || c > '~' || c == '%' || c == ' ' && (i == 0 || i == len(s)-1):
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		case quoted && (c == '"' || c == '\\'):
			dst = append(dst, '\\', c)
		default:
			dst = append(dst, c)
		}
	}
	if len(s) == len(whole) {
		return dst
	}
	dst = append(dst, '~')
	for sum, shift := digest(whole), 28; shift >= 0; shift -= 4 {
		dst = append(dst, digits[sum>>shift&15])
	}
	return dst
}

// digest is FNV-1a. Names are configuration, not input: nobody gains from two
// that meet.
func digest(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

var units = [...]struct {
	name byte
	span weir.Micros
}{{'d', weir.Day}, {'h', weir.Hour}, {'m', weir.Minute}, {'s', weir.Second}}

// appendWindow appends a window, such as 30s or 1m; bare leaves out the number
// where it is one. Windows are whole seconds.
func appendWindow(dst []byte, w weir.Micros, bare bool) []byte {
	for _, u := range units {
		if w%u.span != 0 && u.span != weir.Second {
			continue
		}
		if !bare || w != u.span {
			dst = strconv.AppendInt(dst, int64(w/u.span), 10)
		}
		return append(dst, u.name)
	}
	return dst
}
