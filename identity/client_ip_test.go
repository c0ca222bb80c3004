package identity_test

import (
	"net/http"
	"testing"

	"github.com/weirlimit/weir/identity"
)

// request has this peer and these lines of one header.
func request(peer, header string, lines ...string) *http.Request {
	r := &http.Request{RemoteAddr: peer, Header: http.Header{}}
	if lines != nil {
		r.Header[http.CanonicalHeaderKey(header)] = lines
	}
	return r
}

// counted is a resolver and what it has rejected.
type counted struct {
	*identity.Resolver
	why []identity.Rejection
}

func resolver(t testing.TB, o identity.Options) *counted {
	t.Helper()
	c := &counted{}
	o.Rejected = func(w identity.What, r identity.Reason) {
		c.why = append(c.why, identity.Rejection{What: w, Reason: r})
	}
	var err error
	if c.Resolver, err = identity.New(o); err != nil {
		t.Fatal(err)
	}
	return c
}

func networks(t testing.TB, texts ...string) identity.Networks {
	t.Helper()
	n, err := identity.ParseNetworks(texts)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const (
	loop   = "127.0.0.1:4711"
	remote = "192.0.2.99:4711"
)

func TestClientIP(t *testing.T) {
	const peer, peer6 = "127.0.0.1", "[::1]:4711"
	type lines = []string
	for _, tc := range []struct {
		name  string
		opts  identity.ClientIP
		peer  string
		lines lines
		want  string
		why   identity.Reason
	}{
		{"one hop", identity.ClientIP{}, loop, lines{"203.0.113.7"}, "203.0.113.7", identity.None},
		{"a trusted IPv6 peer", identity.ClientIP{}, peer6, lines{"203.0.113.7"}, "203.0.113.7", identity.None},
		{"a trusted IPv4 peer in IPv6", identity.ClientIP{}, "[::ffff:127.0.0.1]:1", lines{"203.0.113.7"}, "203.0.113.7", identity.None},
		{"forged: what the client sent stands left", identity.ClientIP{}, loop, lines{"6.6.6.6, 203.0.113.7"}, "203.0.113.7", identity.None},
		{"forged: garbage on the left changes nothing", identity.ClientIP{}, loop, lines{`x,,";,203.0.113.7`}, "203.0.113.7", identity.None},
		{"two hops", identity.ClientIP{Hops: 2}, loop, lines{"6.6.6.6, 203.0.113.7, 10.0.0.1"}, "203.0.113.7", identity.None},
		{"spaces and tabs", identity.ClientIP{Hops: 2}, loop, lines{"203.0.113.7\t, \t10.0.0.1 "}, "203.0.113.7", identity.None},
		{"forged XFF from an untrusted peer", identity.ClientIP{}, remote, lines{"203.0.113.7"}, "192.0.2.99", identity.Untrusted},
		{"untrusted and without a header", identity.ClientIP{}, remote, nil, "192.0.2.99", identity.None},
		{"two XFF lines", identity.ClientIP{}, loop, lines{"6.6.6.6", "203.0.113.7"}, peer, identity.Duplicate},
		{"no header", identity.ClientIP{}, loop, nil, peer, identity.Missing},
		{"an empty header", identity.ClientIP{}, loop, lines{""}, peer, identity.Malformed},
		{"too few hops", identity.ClientIP{Hops: 3}, loop, lines{"203.0.113.7, 10.0.0.1"}, peer, identity.TooFew},
		{"malformed: a name", identity.ClientIP{}, loop, lines{"6.6.6.6, example.org"}, peer, identity.Malformed},
		{"malformed: unknown", identity.ClientIP{}, loop, lines{"unknown"}, peer, identity.Malformed},
		{"malformed: an empty entry", identity.ClientIP{}, loop, lines{"203.0.113.7,"}, peer, identity.Malformed},
		{"malformed: on the way to the second hop", identity.ClientIP{Hops: 2}, loop, lines{"203.0.113.7, x"}, peer, identity.Malformed},
		{"malformed: leading zeros", identity.ClientIP{}, loop, lines{"203.0.113.07"}, peer, identity.Malformed},
		{"malformed: a zone", identity.ClientIP{}, loop, lines{"fe80::1%eth0"}, peer, identity.Malformed},
		{"malformed: a port of nothing", identity.ClientIP{}, loop, lines{"203.0.113.7:"}, peer, identity.Malformed},
		{"malformed: a port too large", identity.ClientIP{}, loop, lines{"203.0.113.7:65536"}, peer, identity.Malformed},
		{"malformed: brackets around IPv4", identity.ClientIP{}, loop, lines{"[203.0.113.7]"}, peer, identity.Malformed},
		{"malformed: an open bracket", identity.ClientIP{}, loop, lines{"[2001:db8::1"}, peer, identity.Malformed},
		{"malformed: quotes", identity.ClientIP{}, loop, lines{`"203.0.113.7"`}, peer, identity.Malformed},
		{"a port", identity.ClientIP{}, loop, lines{"203.0.113.7:1234"}, "203.0.113.7", identity.None},
		{"v6 /64", identity.ClientIP{}, loop, lines{"2001:db8:1:2:3:4:5:6"}, "2001:db8:1:2::/64", identity.None},
		{"v6 in brackets", identity.ClientIP{}, loop, lines{"[2001:DB8:1:2::6]"}, "2001:db8:1:2::/64", identity.None},
		{"v6 with a port", identity.ClientIP{}, loop, lines{"[2001:db8:1:2::6]:443"}, "2001:db8:1:2::/64", identity.None},
		{"v6 by /56", identity.ClientIP{IPv6Bits: 56}, loop, lines{"2001:db8:1:2ff::1"}, "2001:db8:1:200::/56", identity.None},
		{"v6 whole", identity.ClientIP{IPv6Bits: 128}, loop, lines{"2001:0db8::0001"}, "2001:db8::1", identity.None},
		{"v4 by /24", identity.ClientIP{IPv4Bits: 24}, loop, lines{"203.0.113.7"}, "203.0.113.0/24", identity.None},
		{"v4 in v6 is v4", identity.ClientIP{}, loop, lines{"::ffff:203.0.113.7"}, "203.0.113.7", identity.None},
		{"an untrusted v6 peer is cut too", identity.ClientIP{}, "[2001:db8:1:2::9]:1", nil, "2001:db8:1:2::/64", identity.None},
		{"a peer with a zone", identity.ClientIP{IPv6Bits: 128}, "[fe80::1%eth0]:1", nil, "fe80::1", identity.None},
		{"a Unix socket has no address", identity.ClientIP{}, "@", lines{"203.0.113.7"}, "", identity.Untrusted},
		{"no header is read", identity.ClientIP{Header: identity.NoHeader}, loop, lines{"203.0.113.7"}, peer, identity.None},
		{
			"our proxies are passed over",
			identity.ClientIP{Proxies: networks(t, "10.0.0.0/8")},
			loop,
			lines{"6.6.6.6, 203.0.113.7, 10.0.0.1, 10.1.2.3"},
			"203.0.113.7", identity.None,
		},
		{
			"nobody but our proxies",
			identity.ClientIP{Proxies: networks(t, "10.0.0.0/8")},
			loop,
			lines{"10.0.0.1, 10.1.2.3"},
			peer, identity.TooFew,
		},
	} {
		r := resolver(t, identity.Options{ClientIP: tc.opts})
		got := r.ClientIP(request(tc.peer, "X-Forwarded-For", tc.lines...))
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
		checkWhy(t, tc.name, r, identity.ClientIPFrom, tc.why)
	}
}

func checkWhy(t *testing.T, name string, r *counted, what identity.What, why identity.Reason) {
	t.Helper()
	if why == identity.None {
		if len(r.why) > 0 {
			t.Errorf("%s: rejected %v", name, r.why)
		}
		return
	}
	if len(r.why) != 1 || r.why[0] != (identity.Rejection{What: what, Reason: why}) {
		t.Errorf("%s: rejected %v, want %v %v", name, r.why, what, why)
	}
}

func TestForwarded(t *testing.T) {
	const peer = "127.0.0.1"
	for _, tc := range []struct {
		line string
		hops int
		want string
		why  identity.Reason
	}{
		{`for=203.0.113.7`, 1, "203.0.113.7", identity.None},
		{`For=203.0.113.7;Proto=https;by=10.0.0.1`, 1, "203.0.113.7", identity.None},
		{`proto=http; for="203.0.113.7:80" ;`, 1, "203.0.113.7", identity.None},
		{`for="[2001:db8:1:2::9]:4711"`, 1, "2001:db8:1:2::/64", identity.None},
		{`for="[2001:db8:1:2::9]"`, 1, "2001:db8:1:2::/64", identity.None},
		{`for="203.0.113.7:_port"`, 1, "203.0.113.7", identity.None},
		{`for="203\.0.113.7"`, 1, "203.0.113.7", identity.None},
		{`for=6.6.6.6, for=203.0.113.7`, 1, "203.0.113.7", identity.None},
		{`for=6.6.6.6, for=203.0.113.7, for=10.0.0.1;by="a,b;c=\"d"`, 2, "203.0.113.7", identity.None},
		// What a client sends before a proxy appends.
		{`for=", for=203.0.113.7`, 1, "203.0.113.7", identity.None},
		{`for="6.6.6.6\, for=203.0.113.7`, 1, "203.0.113.7", identity.None},
		{`;;;, for="203.0.113.7"`, 1, "203.0.113.7", identity.None},

		{`for=203.0.113.7`, 2, peer, identity.TooFew},
		{`for=unknown`, 1, peer, identity.Obfuscated},
		{`for="Unknown:80"`, 1, peer, identity.Obfuscated},
		{`for=_hidden`, 1, peer, identity.Obfuscated},
		{`for=_SEVKISEK`, 1, peer, identity.Obfuscated},
		{`proto=https`, 1, peer, identity.Missing},
		{``, 1, peer, identity.Missing},
		{`for=203.0.113.7,`, 1, peer, identity.Missing},
		{`for=203.0.113.7;for=6.6.6.6`, 1, peer, identity.Malformed},
		{`for=203.0.113.7;FOR=203.0.113.7`, 1, peer, identity.Malformed},
		{`for=203.0.113.7:80`, 1, peer, identity.Malformed},
		{`for=[2001:db8::1]`, 1, peer, identity.Malformed},
		{`for="2001:db8::1"`, 1, peer, identity.Malformed},
		{`for="203.0.113.7`, 1, peer, identity.Malformed},
		{`for="203.0.113.7"x`, 1, peer, identity.Malformed},
		{`for="203.0.113.7\"`, 1, peer, identity.Malformed},
		{`for`, 1, peer, identity.Malformed},
		{`for=`, 1, peer, identity.Malformed},
		{`for=""`, 1, peer, identity.Malformed},
		{`for = 203.0.113.7`, 1, peer, identity.Malformed},
		{`for="fe80::1%eth0"`, 1, peer, identity.Malformed},
		{`a=1;b=1;c=1;d=1;e=1;f=1;g=1;h=1;for=203.0.113.7`, 1, peer, identity.Malformed},
	} {
		r := resolver(t, identity.Options{ClientIP: identity.ClientIP{Header: identity.Forwarded, Hops: tc.hops}})
		if got := r.ClientIP(request(loop, "Forwarded", tc.line)); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.line, got, tc.want)
		}
		checkWhy(t, tc.line, r, identity.ClientIPFrom, tc.why)
	}
	r := resolver(t, identity.Options{ClientIP: identity.ClientIP{Header: identity.Forwarded}})
	if got := r.ClientIP(request(loop, "Forwarded", "for=6.6.6.6", "for=203.0.113.7")); got != peer {
		t.Errorf("two lines: %s", got)
	}
	checkWhy(t, "two lines", r, identity.ClientIPFrom, identity.Duplicate)
	r.why = nil
	if got := r.ClientIP(request(loop, "X-Forwarded-For", "6.6.6.6")); got != peer {
		t.Errorf("the other header is believed: %s", got)
	}
}

func TestParseNetworks(t *testing.T) {
	n := networks(t, "10.0.0.0/8", "192.0.2.7", "2001:db8::/32")
	for text, want := range map[string]bool{
		"10.255.0.1:1": true, "11.0.0.1:1": false, "192.0.2.7:1": true, "192.0.2.8:1": false,
		"[2001:db8::1]:1": true, "[2001:db9::1]:1": false, "[::ffff:10.0.0.1]:1": true, "@": false, "": false, "10.0.0.1": false,
	} {
		if got := n.Has(identity.PeerAddr(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	for _, text := range []string{"", "x", "10.0.0.0/33", "10.0.0.1/8", "fe80::1%eth0", "::ffff:10.0.0.0/104", "10.0.0.0/8,"} {
		if _, err := identity.ParseNetworks([]string{text}); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	if _, err := identity.ParseNetworks(make([]string, 300)); err == nil {
		t.Error("300 networks")
	}
}
