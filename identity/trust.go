package identity

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/weirlimit/weir"
)

// maxNetworks bounds a list of networks: it is searched one by one.
const maxNetworks = 256

// Networks is a list of address ranges. The zero value holds none.
type Networks struct {
	prefixes []netip.Prefix
}

// Loopback holds 127.0.0.0/8 and ::1.
func Loopback() Networks {
	return Networks{[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
}

// ParseNetworks reads ranges in CIDR notation, such as 10.0.0.0/8; an address
// without bits stands for itself. Bits beyond the prefix must be zero: who wrote
// them meant something else.
func ParseNetworks(texts []string) (Networks, error) {
	if len(texts) > maxNetworks {
		return Networks{}, invalid("networks", "", "%d are more than %d", len(texts), maxNetworks)
	}
	var n Networks
	for _, text := range texts {
		p, err := parsePrefix(text)
		if err != nil {
			return Networks{}, err
		}
		n.prefixes = append(n.prefixes, p)
	}
	return n, nil
}

func parsePrefix(text string) (netip.Prefix, error) {
	const hint = "for example 10.0.0.0/8, 192.0.2.7 or 2001:db8::/32"
	if !strings.Contains(text, "/") {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return netip.Prefix{}, invalid("networks", hint, "%q is no network", clip(text))
		}
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return netip.Prefix{}, invalid("networks", hint, "%q is no network", clip(text))
	case p.Addr().Is4In6():
		return netip.Prefix{}, invalid("networks", "write it as IPv4", "%s is IPv4 in IPv6", p)
	case p != p.Masked():
		return netip.Prefix{}, invalid("networks", "did you mean "+p.Masked().String()+"?", "%s has bits beyond its prefix", p)
	}
	return p, nil
}

// Has tells whether an address is in one of the ranges. An IPv4 address in an
// IPv6 one counts as the former; an invalid address is in none.
func (n Networks) Has(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	for _, p := range n.prefixes {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// Len returns how many ranges there are.
func (n Networks) Len() int { return len(n.prefixes) }

// PeerAddr returns the address of the other end of a connection, of
// http.Request.RemoteAddr: an address and a port. It is invalid for anything
// else, such as a Unix socket, and an invalid address is trusted by nobody.
func PeerAddr(remote string) netip.Addr {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

func invalid(field, hint, format string, args ...any) *weir.Error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// clip bounds what is repeated of somebody's text.
func clip(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}
