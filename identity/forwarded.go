package identity

import (
	"net/netip"
	"strings"
)

// lastNode returns the for= of the last element of a Forwarded header, the text
// before the element, and whether there is any.
//
// The element is found from the right: a comma inside quotes does not end it,
// and quotes are matched from its end. What stands left of its comma, balanced
// or not, cannot change what is read.
func lastNode(line string) (a netip.Addr, rest string, more bool, why Reason) {
	element := line
	if i := lastComma(line); i >= 0 {
		rest, element, more = line[:i], line[i+1:], true
	}
	node, why := forOf(element)
	if why != None {
		return netip.Addr{}, "", false, why
	}
	a, why = parseNode(node)
	if why != None {
		return netip.Addr{}, "", false, why
	}
	return a, rest, more, None
}

// lastComma returns where the last element begins, less one; -1 for the start.
func lastComma(line string) int {
	quoted := false
	for i := len(line) - 1; i >= 0; i-- {
		switch {
		case line[i] == '"' && !(quoted && escaped(line, i)):
			quoted = !quoted
		case line[i] == ',' && !quoted:
			return i
		}
	}
	return -1
}

// escaped tells whether an odd number of backslashes stands before i.
func escaped(line string, i int) bool {
	n := 0
	for i--; i >= 0 && line[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

// forOf returns the value of for= in an element: pairs of a token and a token
// or a quoted string, separated by semicolons, each name once at most. A pair
// may be empty; spaces around a semicolon are not the RFC's, but harmless.
func forOf(element string) (node string, why Reason) {
	s := strings.Trim(element, " \t")
	var names [8]string // by, for, host, proto, and some that may come
	count, found := 0, false
	for s != "" {
		if s[0] == ';' {
			s = strings.TrimLeft(s[1:], " \t")
			continue
		}
		name, after, ok := cutToken(s)
		if !ok || after == "" || after[0] != '=' || count == len(names) {
			return "", Malformed
		}
		for _, other := range names[:count] {
			if strings.EqualFold(name, other) {
				return "", Malformed
			}
		}
		names[count] = name
		count++
		value, after, ok := cutValue(after[1:])
		if !ok {
			return "", Malformed
		}
		if strings.EqualFold(name, "for") {
			node, found = value, true
		}
		s = strings.TrimLeft(after, " \t")
		if s != "" && s[0] != ';' {
			return "", Malformed
		}
	}
	if !found {
		return "", Missing
	}
	return node, None
}

// parseNode reads an address with an optional port; an IPv6 address stands in
// brackets. Identifiers are for whoever made them.
func parseNode(node string) (netip.Addr, Reason) {
	switch {
	case node == "":
		return netip.Addr{}, Malformed
	case node[0] == '_' || strings.EqualFold(node, "unknown") || strings.HasPrefix(strings.ToLower(node), "unknown:"):
		return netip.Addr{}, Obfuscated
	}
	end := strings.LastIndexByte(node, ']') + 1
	if colon := strings.IndexByte(node[end:], ':'); colon >= 0 && isHiddenPort(node[end+colon+1:]) {
		node = node[:end+colon]
	}
	if node[0] != '[' && strings.Count(node, ":") > 1 {
		return netip.Addr{}, Malformed
	}
	a, ok := parseEntry(node)
	if !ok {
		return netip.Addr{}, Malformed
	}
	return a, None
}

// isHiddenPort tells whether s is an identifier in place of a port: the port is
// not used, so it need not be known.
func isHiddenPort(s string) bool {
	if len(s) < 2 || s[0] != '_' {
		return false
	}
	for i := range len(s) {
		if c := s[i] | 0x20; (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') && !strings.ContainsRune("._-", rune(s[i])) {
			return false
		}
	}
	return true
}

func cutToken(s string) (token, after string, ok bool) {
	i := 0
	for i < len(s) && isTokenByte(s[i]) {
		i++
	}
	return s[:i], s[i:], i > 0
}

// cutValue takes a token or a quoted string off s. Escapes are rare and are the
// only case that allocates.
func cutValue(s string) (value, after string, ok bool) {
	if s == "" || s[0] != '"' {
		return cutToken(s)
	}
	var unescaped []byte
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			if unescaped != nil {
				return string(unescaped), s[i+1:], true
			}
			return s[1:i], s[i+1:], true
		case c == '\\' && i+1 < len(s):
			if unescaped == nil {
				unescaped = append(make([]byte, 0, len(s)), s[1:i]...)
			}
			i++
			if !isQuotable(s[i]) {
				return "", "", false
			}
			unescaped = append(unescaped, s[i])
		case !isQuotable(c) || c == '\\':
			return "", "", false
		case unescaped != nil:
			unescaped = append(unescaped, c)
		}
	}
	return "", "", false
}

func isQuotable(c byte) bool { return c == '\t' || c >= ' ' && c != 0x7f }

func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
