package identity

import (
	"net/http"
	"net/netip"
)

// Header is a header that says for whom a proxy asks.
type Header uint8

// The headers.
const (
	XForwardedFor Header = iota // addresses, separated by commas
	Forwarded                   // RFC 7239
	NoHeader                    // none: the client is the peer
)

// maxHops bounds a chain of proxies.
const maxHops = 32

// ClientIP says where the client's address is found. Every proxy appends the
// address that it was called from, so that the list grows to the right:
//
//	client ---> proxy A ---> proxy B ---> here
//	            appends      appends
//	            the client   A
//
//	X-Forwarded-For: anything the client sent, CLIENT, A
//	                                    hops:  2       1
//
// With Hops, the client is entry number Hops from the right: the one that the
// outermost proxy of ours wrote. One hop is one proxy before this process.
//
// With Proxies, for chains whose length differs, entries from the right that are
// in one of these networks are passed over, and the first that is not is the
// client. It is wrong when clients live in those networks too; prefer Hops.
//
// Either way only the entries up to the client's are read. What is left of them
// is whatever the client sent.
type ClientIP struct {
	Header  Header
	Hops    int      // 1 to 32; 0 is 1
	Proxies Networks // instead of Hops

	// IPv4Bits and IPv6Bits are how much of an address counts: 0 is 32 and 64.
	// Who has one IPv6 address has 2^64 of them.
	IPv4Bits, IPv6Bits int
}

// check fills in defaults.
func (c *ClientIP) check() error {
	if c.Hops != 0 && c.Proxies.Len() > 0 {
		return invalid("client_ip", "keep one of them", "hops and proxies are both given")
	}
	if c.Hops == 0 {
		c.Hops = 1
	}
	if c.IPv4Bits == 0 {
		c.IPv4Bits = 32
	}
	if c.IPv6Bits == 0 {
		c.IPv6Bits = 64
	}
	switch {
	case c.Header > NoHeader:
		return invalid("client_ip.header", "", "no such header: %d", c.Header)
	case c.Hops < 1 || c.Hops > maxHops:
		return invalid("client_ip.hops", "", "%d is not 1 to %d", c.Hops, maxHops)
	case c.IPv4Bits < 8 || c.IPv4Bits > 32:
		return invalid("client_ip.ipv4_bits", "", "%d is not 8 to 32", c.IPv4Bits)
	case c.IPv6Bits < 16 || c.IPv6Bits > 128:
		return invalid("client_ip.ipv6_bits", "", "%d is not 16 to 128", c.IPv6Bits)
	}
	return nil
}

// find returns the client's address as the header of a trusted peer tells it,
// or why that is not believed.
func (c *ClientIP) find(h http.Header) (netip.Addr, Reason) {
	name := "X-Forwarded-For"
	if c.Header == Forwarded {
		name = "Forwarded"
	}
	line, why := single(h, name)
	if why != None {
		return netip.Addr{}, why
	}
	next := lastAddr
	if c.Header == Forwarded {
		next = lastNode
	}
	for hop := 1; ; hop++ {
		a, rest, more, why := next(line)
		switch {
		case why != None:
			return netip.Addr{}, why
		case c.Proxies.Len() > 0 && !c.Proxies.Has(a):
			return a, None
		case c.Proxies.Len() == 0 && hop == c.Hops:
			return a, None
		case !more || hop == maxHops:
			return netip.Addr{}, TooFew
		}
		line = rest
	}
}

// text returns an address as a dimension: cut to the bits that count, and in
// the one canonical form. A network of several addresses is written with its
// bits: 2001:db8:1:2::/64.
func (c *ClientIP) text(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	a = a.Unmap().WithZone("")
	bits := c.IPv6Bits
	if a.Is4() {
		bits = c.IPv4Bits
	}
	if bits == a.BitLen() {
		return a.String()
	}
	p, err := a.Prefix(bits)
	if err != nil { // bits are checked
		return ""
	}
	var buf [len("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128")]byte
	return string(p.AppendTo(buf[:0]))
}

// single returns the one line of a header. Two lines may be of two writers, one
// of which is the client, and nothing tells which.
func single(h http.Header, name string) (string, Reason) {
	lines := h[name]
	switch {
	case len(lines) == 0:
		return "", Missing
	case len(lines) > 1:
		return "", Duplicate
	}
	return lines[0], None
}
