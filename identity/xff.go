package identity

import (
	"net/netip"
	"strings"
)

// lastAddr returns the last entry of a list of addresses, the text before it,
// and whether there is any. It looks at nothing left of the entry's comma.
//
// An entry is an IPv4 or IPv6 address; some proxies add a port (192.0.2.7:1234,
// [2001:db8::1]:1234) or brackets. Nothing else is one: no names, no zones, no
// empty entries.
func lastAddr(line string) (a netip.Addr, rest string, more bool, why Reason) {
	entry := line
	if i := strings.LastIndexByte(line, ','); i >= 0 {
		rest, entry, more = line[:i], line[i+1:], true
	}
	a, ok := parseEntry(strings.Trim(entry, " \t"))
	if !ok {
		return netip.Addr{}, "", false, Malformed
	}
	return a, rest, more, None
}

// parseEntry reads an address that may have brackets, a port or both.
func parseEntry(s string) (netip.Addr, bool) {
	if host, ok := strings.CutPrefix(s, "["); ok {
		host, port, ok := strings.Cut(host, "]")
		if !ok || port != "" && (port[0] != ':' || !isPort(port[1:])) {
			return netip.Addr{}, false
		}
		a, ok := parseAddr(host)
		return a, ok && strings.IndexByte(host, ':') >= 0
	}
	if i := strings.IndexByte(s, ':'); i >= 0 && i == strings.LastIndexByte(s, ':') {
		if !isPort(s[i+1:]) {
			return netip.Addr{}, false
		}
		s = s[:i]
	}
	return parseAddr(s)
}

// parseAddr reads an address without a zone: another host's interface means
// nothing here.
func parseAddr(s string) (netip.Addr, bool) {
	if len(s) < len("::") || len(s) > len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255") {
		return netip.Addr{}, false // and no error is made for it
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Addr{}, false
	}
	return a.Unmap(), true
}

// isPort tells whether s is a decimal number from 0 to 65535.
func isPort(s string) bool {
	if s == "" || len(s) > 5 {
		return false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n <= 65535
}
