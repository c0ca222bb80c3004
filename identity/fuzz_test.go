package identity_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/weirlimit/weir/identity"
)

// FuzzXForwardedFor: whatever a client sends before two of our proxies append,
// the address is the one that the outer of them saw; and whatever a header is,
// the answer is an address in canonical form.
func FuzzXForwardedFor(f *testing.F) {
	for _, s := range []string{"", "6.6.6.6", "x", ",", `"`, "[::1", "::ffff:1.2.3.4", "1.2.3.4:80, [2001:db8::1]:443"} {
		f.Add(s)
	}
	two := resolver(f, identity.Options{ClientIP: identity.ClientIP{Hops: 2, IPv6Bits: 128}})
	one := resolver(f, identity.Options{ClientIP: identity.ClientIP{IPv6Bits: 128}})
	f.Fuzz(func(t *testing.T, sent string) {
		if got := two.ClientIP(request(loop, "X-Forwarded-For", sent+", 203.0.113.7, 10.0.0.1")); got != "203.0.113.7" {
			t.Errorf("the client made itself %s", got)
		}
		canonical(t, one.ClientIP(request(loop, "X-Forwarded-For", sent)))
		one.why, two.why = nil, nil
	})
}

// FuzzForwarded is the same for the other header.
func FuzzForwarded(f *testing.F) {
	for _, s := range []string{
		"", "for=6.6.6.6", `for="`, `for="\`, `for="a,b`, `"`, `for="[2001:db8::1]:443";by=_x, for=unknown`, `for="\"`,
	} {
		f.Add(s)
	}
	opts := func(hops int) identity.Options {
		return identity.Options{ClientIP: identity.ClientIP{Header: identity.Forwarded, Hops: hops, IPv6Bits: 128}}
	}
	two, one := resolver(f, opts(2)), resolver(f, opts(1))
	f.Fuzz(func(t *testing.T, sent string) {
		line := sent + `, for="203.0.113.7:80";by="a,\"b";proto=https, for=10.0.0.1`
		if got := two.ClientIP(request(loop, "Forwarded", line)); got != "203.0.113.7" {
			t.Errorf("the client made itself %s", got)
		}
		canonical(t, one.ClientIP(request(loop, "Forwarded", sent)))
		one.why, two.why = nil, nil
	})
}

func canonical(t *testing.T, text string) {
	t.Helper()
	a, err := netip.ParseAddr(text)
	if err != nil || a.String() != text || a.Is4In6() || strings.Contains(text, "%") {
		t.Errorf("%q is not canonical: %v", text, err)
	}
}
