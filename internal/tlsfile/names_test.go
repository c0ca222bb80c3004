package tlsfile

import (
	"crypto/x509"
	"errors"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/certtest"
)

// holder is a certificate with these names.
func holder(t testing.TB, ca *certtest.Authority, names ...string) *x509.Certificate {
	t.Helper()
	c, err := x509.ParseCertificate(ca.Client(t, names...).TLS(t).Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNamesMatch(t *testing.T) {
	ca := certtest.New(t)
	for _, tc := range []struct {
		list, has string
		want      bool
	}{
		{"gateway.example.org", "gateway.example.org", true},
		{"gateway.example.org", "GateWay.Example.org", true},
		{"GATEWAY.example.org", "gateway.example.org", true},
		{"gateway.example.org", "other.example.org", false},
		{"gateway.example.org", "x.gateway.example.org", false},
		{"gateway.example.org", "gateway.example.org.evil.test", false},
		{"gateway.example.org", "", false},
		{"*.example.org", "gateway.example.org", true},
		{"*.example.org", "example.org", false},
		{"*.example.org", "a.b.example.org", false},
		{"*.example.org", "gateway.example.com", false},
		{"gateway.example.org", "*.example.org", false}, // a star in a certificate proves no name
		{"spiffe://example.org/gateway", "spiffe://example.org/gateway", true},
		{"spiffe://example.org/gateway", "spiffe://example.org/gateway2", false},
		{"spiffe://example.org/gateway", "spiffe://example.org/", false},
		{"example.org", "spiffe://example.org/gateway", false},
		{"10.0.0.1", "10.0.0.1", true},
		{"::ffff:10.0.0.1", "10.0.0.1", true},
		{"10.0.0.1", "10.0.0.2", false},
		{"2001:db8::1", "2001:db8:0::1", true},
		{"a.test,b.test", "b.test", true},
		{"a.test,b.test", "x.test,b.test", true},
		{"certtest client", "", false},
	} {
		n, err := ParseNames(strings.Split(tc.list, ","))
		if err != nil {
			if tc.list != "certtest client" {
				t.Errorf("%s: %v", tc.list, err)
			}
			continue
		}
		var names []string
		if tc.has != "" {
			names = strings.Split(tc.has, ",")
		}
		if got := n.Match(holder(t, ca, names...)); got != tc.want {
			t.Errorf("%s on the list, %q in the certificate: %v, want %v", tc.list, tc.has, got, tc.want)
		}
	}
}

func TestNamesRefused(t *testing.T) {
	for _, text := range []string{
		"", "*", "*.", "a..b", ".a", "a.", "-a.b", "a-.b", "a b", "a/b", "me@example.org", "foo.*.org", "*x.org",
		"spiffe://example.org/*", "://x", "spiffe://exa mple", "fe80::1%eth0", strings.Repeat("a", 64), strings.Repeat("a.", 127) + "ab",
		"spiffe://" + strings.Repeat("a", maxName),
	} {
		_, err := ParseNames([]string{"good.test", text})
		e, ok := errors.AsType[*weir.Error](err)
		if !ok || e.Code != weir.CodeInvalid || e.Hint == "" {
			t.Errorf("%.50q: %v", text, err)
		}
	}
}

// FuzzNames: what is taken matches a certificate of that name, and never one of
// another.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"a.test", "*.a.test", "spiffe://a/b", "10.0.0.1", "::1", "*", "A.test"} {
		f.Add(s)
	}
	stranger := holder(f, certtest.New(f), "nobody.invalid", "spiffe://nobody.invalid/x", "192.0.2.77")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseNames([]string{text})
		if err != nil {
			if !n.Empty() {
				t.Fatal("an error, and names")
			}
			return
		}
		if n.Empty() || n.String() != text {
			t.Fatalf("%q became %q", text, n.String())
		}
		same := strings.EqualFold(text, "nobody.invalid") || text == "*.invalid" || strings.EqualFold(text, "*.invalid") ||
			text == "spiffe://nobody.invalid/x" || len(n.ips) > 0
		if !same && n.Match(stranger) {
			t.Fatalf("%q matches a stranger", text)
		}
		for _, d := range n.dns {
			if !n.matchDNS(strings.Replace(d, "*", "x", 1)) || n.matchDNS("x.y."+d) {
				t.Fatalf("%q does not match what it says, or more", d)
			}
		}
	})
}
