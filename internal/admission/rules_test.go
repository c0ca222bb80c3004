package admission

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
)

func TestNetwork(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64", "::1": "::/64",
	} {
		if have := Network(netip.MustParseAddr(in)); have != want {
			t.Errorf("%s is %s, want %s", in, have, want)
		}
	}
	if have := Network(netip.Addr{}); have != "" {
		t.Errorf("no address is %q", have)
	}
}

func TestField(t *testing.T) {
	f := Field{Dimension: "tenant", Kind: "header field", Name: "X-Tenant"}
	long := strings.Repeat("x", MaxValueBytes)
	for _, tc := range []struct {
		values []string
		want   string // - for an error
	}{
		{nil, ""},
		{[]string{""}, ""},
		{[]string{"a"}, "a"},
		{[]string{long}, long},
		{[]string{"a", "a"}, "-"},
		{[]string{"", ""}, "-"},
		{[]string{long + "x"}, long + "x"}, // Describe bounds it
		{[]string{"\xff"}, "-"},
	} {
		have, err := f.Append(nil, tc.values)
		switch {
		case tc.want == "-":
			if weir.CodeOf(err) != weir.CodeInvalid || !strings.Contains(err.Error(), "the header field X-Tenant is ") {
				t.Errorf("%q: %v", tc.values, err)
			}
		case err != nil || len(have) != count(tc.want != "") || tc.want != "" && have[0] != (weir.Pair{Name: "tenant", Value: tc.want}):
			t.Errorf("%q: %v, %v", tc.values, have, err)
		}
	}
}

func TestAddLeavesOnesOwn(t *testing.T) {
	pairs := []weir.Pair{{Name: "route", Value: "mine"}}
	pairs = Add(pairs, 1, "route", "theirs")
	pairs = Add(pairs, 1, "path", Text("/a\xff"))
	if len(pairs) != 2 || pairs[0].Value != "mine" || pairs[1].Value != "/a\uFFFD" {
		t.Errorf("%q", pairs)
	}
}

func TestRules(t *testing.T) {
	patterns := []string{"/health", "/static/*"}
	for text, want := range map[string]bool{"/health": true, "/healthy": false, "/static/a": true, "/static": false, "": false} {
		if Matches(patterns, text) != want {
			t.Errorf("%q matches: %v", text, !want)
		}
	}
	for _, text := range []string{
		"/static/../a", "/static/..", "/static/./a", "/static/.", "/static//a", "//static/a", "/static/..;x/a", "/static/.;/a",
		`/static/..\a`, `/static/a\b`, "/static/%2e%2e/a", "/static/.%2E/a", "/static/..%2fa", "/static/a%2Fb", "/static/..%5Ca",
		"/static/%252e%252e/a",
	} {
		if Matches(append(patterns, text), text) || Matches([]string{"*"}, text) {
			t.Errorf("%q matches", text)
		}
	}
	for _, text := range []string{"/static/", "/static/.a", "/static/a..b", "/static/...", "/static/a.", "/static/100%", "/static/%2", "*", "/", ""} {
		if !Matches([]string{"*"}, text) {
			t.Errorf("%q does not match", text)
		}
	}
	for _, tc := range []struct{ bytes, unit, want int64 }{{0, 2, 0}, {-1, 2, 0}, {1, 2, 1}, {2, 2, 1}, {3, 2, 2}, {3, 0, 3}, {3, -1, 3}} {
		if have := Units(tc.bytes, tc.unit); have != tc.want {
			t.Errorf("%d in units of %d: %d", tc.bytes, tc.unit, have)
		}
	}
	for text, want := range map[string]int64{"7": 7, " 7 ": 7, "-7": 0, "": 0, "x": 0, "99999999999999999999": 0} {
		if have := Number(text); have != want {
			t.Errorf("%q is %d", text, have)
		}
	}
}
