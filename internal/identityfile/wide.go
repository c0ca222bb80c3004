package identityfile

import (
	"fmt"
	"net/netip"

	"go.yaml.in/yaml/v3"
)

// The shortest prefixes that a fleet of gateways plausibly has: 10.0.0.0/8, and
// what a large provider is given. What is wider holds strangers too.
const (
	minBits4 = 8
	minBits6 = 16
)

// wideNetworks returns those of a list that are too wide to be one's own.
func wideNetworks(n *yaml.Node) []*yaml.Node {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var wide []*yaml.Node
	for _, item := range items {
		p, err := netip.ParsePrefix(item.Value)
		if err != nil { // an address, or refused elsewhere
			continue
		}
		if p.Addr().Is4() && p.Bits() < minBits4 || p.Addr().Is6() && p.Bits() < minBits6 {
			wide = append(wide, item)
		}
	}
	return wide
}

// wideWarning says what strangers can do who are trusted as gateways are.
func (r *reader) wideWarning(n *yaml.Node, tenantHeader string) Warning {
	harm := "choose the address that it is limited by"
	if tenantHeader != "" {
		harm = "choose the tenant (by " + tenantHeader + ") and the address that it is limited by"
	}
	return Warning{
		Text: fmt.Sprintf("%s:%d:%d: trusted_peers has %s: whoever connects from there is believed as a gateway is, and can %s",
			r.file, n.Line, n.Column, n.Value, harm),
		Hint: "list the addresses of your gateways only",
	}
}
