package forwardauth

import "strings"

// pathHint says what normalPath takes.
const pathHint = "a path begins with a slash, has at most 4 KiB, and no .. segment in any spelling: the client has to resolve it"

// normalPath returns the path of a request target in its one form: without
// scheme, host, query and fragment, with escapes resolved and backslashes turned,
// without empty segments and single dots. Two spellings that a server behind the
// gateway may take for the same path are one; that some servers would tell them
// apart costs at most a request of a strange spelling.
//
// Two dots are refused, not resolved. Servers do not agree on what they remove:
// some take %2F for a letter of a segment, some count empty segments, some keep
// the dots. Whatever were the answer here, to one of them the path would be under
// another prefix.
func normalPath(target string) (string, bool) {
	if target == "*" { // OPTIONS *
		return target, true
	}
	if target != "" && target[0] != '/' {
		_, rest, ok := strings.Cut(target, "://")
		slash := strings.IndexByte(rest, '/')
		if !ok || slash < 0 || strings.ContainsAny(rest[:slash], "?#") {
			return "", false
		}
		target = rest[slash:]
	}
	if i := strings.IndexAny(target, "?#"); i >= 0 {
		target = target[:i]
	}
	if target == "" || len(target) > maxPath {
		return "", false
	}
	if isNormal(target) {
		return target, true
	}
	return joined(unescape(target))
}

// joined drops the segments that mean nothing, and refuses those that servers
// make different things of.
func joined(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	open := true // the path ends with a slash
	for segment := range strings.SplitSeq(s[1:], "/") {
		name, _, parameters := strings.Cut(segment, ";")
		if name == ".." || parameters && (name == "" || name == ".") {
			return "", false
		}
		if open = name == "" || name == "."; !open {
			b = append(append(b, '/'), segment...)
		}
	}
	if open {
		b = append(b, '/')
	}
	return string(b), true
}

// isNormal tells whether there is nothing to do, as there is not for most.
func isNormal(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '%' || c == '\\' || c < ' ' || c == 0x7f:
			return false
		case c == '/' && i+1 < len(s) && (s[i+1] == '/' || s[i+1] == '.' || s[i+1] == ';'):
			return false
		}
	}
	return true
}

// unescape resolves escapes, once, and turns backslashes, which some servers take
// for slashes. Escapes of bytes that would then mean something else, or nothing,
// stay: controls, percent, question mark and number sign.
func unescape(s string) string {
	b := make([]byte, 0, len(s)+8)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			c = unhex(s[i+1])<<4 | unhex(s[i+2])
			i += 2
		} // else a percent sign stands for itself, and is escaped
		if c < ' ' || c == 0x7f || c == '%' || c == '?' || c == '#' {
			const digits = "0123456789ABCDEF"
			b = append(b, '%', digits[c>>4], digits[c&15])
			continue
		}
		if c == '\\' {
			c = '/'
		}
		b = append(b, c)
	}
	return string(b)
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
