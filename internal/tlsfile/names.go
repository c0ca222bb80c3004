package tlsfile

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/weirlimit/weir"
)

// Names is a list of subject alternative names, of which a certificate must
// have one. The common name is never looked at. The zero value is empty; what
// that means is up to who asks.
type Names struct {
	dns      []string // in lower case; "*.example.org" is one label and the rest
	uris     []string
	ips      []netip.Addr
	asWanted []string
}

// maxName bounds a name: no DNS name is longer, and no SPIFFE ID should be.
const maxName = 2048

// ParseNames reads names: DNS names, with "*." in front for any one label; URIs
// such as spiffe://example.org/gateway, which must be equal; IP addresses.
func ParseNames(texts []string) (Names, error) {
	var n Names
	for _, text := range texts {
		if err := n.add(text); err != nil {
			return Names{}, err
		}
	}
	return n, nil
}

func (n *Names) add(text string) error {
	wrong := func(message string) error {
		return &weir.Error{
			Code: weir.CodeInvalid, Field: fmt.Sprintf("name %.100q", text), Message: message,
			Hint: "for example gateway.example.org, *.example.org, spiffe://example.org/gateway or 10.0.0.1",
		}
	}
	if len(text) > maxName {
		return wrong(fmt.Sprintf("is longer than %d bytes", maxName))
	}
	ip, notIP := netip.ParseAddr(text)
	switch {
	case notIP == nil && ip.Zone() == "":
		n.ips = append(n.ips, ip.Unmap())
	case strings.Contains(text, "://"):
		u, err := url.Parse(text)
		if err != nil || u.Scheme == "" || u.String() != text {
			return wrong("is not a URI as certificates have them")
		}
		if strings.Contains(text, "*") {
			return wrong("a URI must be given in full: no certificate has a star in one")
		}
		n.uris = append(n.uris, text)
	default:
		name := strings.ToLower(text)
		if !isDNS(strings.TrimPrefix(name, "*.")) {
			return wrong("is not a DNS name, a URI or an IP address")
		}
		n.dns = append(n.dns, name)
	}
	n.asWanted = append(n.asWanted, text)
	return nil
}

// isDNS tells whether a name is made of labels that a certificate may have.
func isDNS(name string) bool {
	if len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			c := label[i]
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}

// Empty tells whether there are none.
func (n *Names) Empty() bool { return len(n.asWanted) == 0 }

// String is the list, for people.
func (n *Names) String() string { return strings.Join(n.asWanted, ", ") }

// Match tells whether the certificate has one of the names. A star in the
// certificate is a letter like any other: who holds *.example.org is not taken
// for gateway.example.org.
func (n *Names) Match(c *x509.Certificate) bool {
	return slices.ContainsFunc(c.DNSNames, n.matchDNS) ||
		slices.ContainsFunc(c.URIs, func(u *url.URL) bool { return slices.Contains(n.uris, u.String()) }) ||
		slices.ContainsFunc(c.IPAddresses, func(b net.IP) bool {
			ip, ok := netip.AddrFromSlice(b)
			return ok && slices.Contains(n.ips, ip.Unmap())
		})
}

func (n *Names) matchDNS(name string) bool {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if slices.Contains(n.dns, name) {
		return true
	}
	label, rest, ok := strings.Cut(name, ".")
	return ok && label != "" && slices.Contains(n.dns, "*."+rest)
}

// namesOf lists what a certificate has, for a message.
func namesOf(c *x509.Certificate) string {
	names := slices.Clone(c.DNSNames)
	for _, u := range c.URIs {
		names = append(names, u.String())
	}
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	const shown = 5
	if len(names) > shown {
		names = append(names[:shown], "...")
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
