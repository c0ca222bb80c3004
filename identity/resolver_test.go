package identity_test

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/identity"
)

// words is a verifier that believes one token.
type words struct{}

func (words) Verify(token string) (*identity.Subject, identity.Reason) {
	switch token {
	case "good":
		return &identity.Subject{Tenant: "jwt", User: "u", Plan: "pro", Extra: []weir.Pair{{Name: "region", Value: "eu"}}}, identity.None
	case "user":
		return &identity.Subject{User: "u"}, identity.None
	}
	return nil, identity.Signature
}

var noon = time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)

func keys(t testing.TB) *identity.Keys {
	t.Helper()
	k, err := identity.NewKeys([]identity.Key{
		{Digest: sha256.Sum256([]byte("secret")), ID: "k1", Tenant: "key", User: "bot", Plan: "free"},
		{Digest: sha256.Sum256([]byte("plain")), ID: "k2", Tenant: "key"},
		{Digest: sha256.Sum256([]byte("off")), ID: "k3", Tenant: "key", Disabled: true},
		{Digest: sha256.Sum256([]byte("old")), ID: "k4", Tenant: "key", ExpiresAt: noon},
		{Digest: sha256.Sum256([]byte("soon")), ID: "k5", Tenant: "key", ExpiresAt: noon.Add(1)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func text(pairs []weir.Pair) string {
	var s []string
	for _, p := range pairs {
		s = append(s, p.Name+"="+p.Value)
	}
	return strings.Join(s, " ")
}

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

const (
	jwtPairs = "tenant=jwt user=u plan=pro region=eu"
	keyPairs = "tenant=key user=bot plan=free api_key=k1"
)

func TestPrecedence(t *testing.T) {
	for _, tc := range []struct {
		name string
		peer string
		h    http.Header
		want string
		what identity.What
		why  identity.Reason
	}{
		{"nothing", loop, header(), "", 0, identity.None},
		{"a token", loop, header("Authorization", "Bearer good"), jwtPairs, 0, identity.None},
		{"a token, whoever asks", remote, header("authorization", "bearer  good "), jwtPairs, 0, identity.None},
		{"a token after a tab", loop, header("Authorization", "Bearer\tgood"), jwtPairs, 0, identity.None},
		{"a token after many", loop, header("Authorization", "BEARER \t \tgood\t"), jwtPairs, 0, identity.None},
		{"a bad token after a tab", loop, header("Authorization", "Bearer\tbad"), "", identity.JWT, identity.Signature},
		{"a key", remote, header("X-Api-Key", "secret"), keyPairs, 0, identity.None},
		{"a key with a tenant alone", loop, header("X-Api-Key", "plain"), "tenant=key api_key=k2", 0, identity.None},
		{"the header of a trusted peer", loop, header("X-Tenant", "peer"), "tenant=peer", 0, identity.None},
		{"a token before a key", loop, header("Authorization", "Bearer good", "X-Api-Key", "secret"), jwtPairs, 0, identity.None},
		{"a token before the header", loop, header("Authorization", "Bearer good", "X-Tenant", "peer"), jwtPairs, 0, identity.None},
		{"a key before the header", loop, header("X-Api-Key", "secret", "X-Tenant", "peer"), keyPairs, 0, identity.None},
		{"a token without a tenant leaves it to the peer", loop, header("Authorization", "Bearer user", "X-Tenant", "peer"), "user=u tenant=peer", 0, identity.None},

		{"a bad token keys nothing", loop, header("Authorization", "Bearer bad"), "", identity.JWT, identity.Signature},
		{"a bad token is not replaced by a key", loop, header("Authorization", "Bearer bad", "X-Api-Key", "secret"), "", identity.JWT, identity.Signature},
		{"a bad token leaves the peer's word", loop, header("Authorization", "Bearer bad", "X-Tenant", "peer"), "tenant=peer", identity.JWT, identity.Signature},
		{"an empty token", loop, header("Authorization", "Bearer  "), "", identity.JWT, identity.Malformed},
		{"an empty header is none", loop, header("Authorization", "", "X-Api-Key", "secret"), keyPairs, 0, identity.None},
		{"an empty key is none", loop, header("X-Api-Key", ""), "", 0, identity.None},
		{"another scheme is none of ours", loop, header("Authorization", "Basic Z29vZA==", "X-Api-Key", "secret"), keyPairs, 0, identity.None},

		{"an unknown key", loop, header("X-Api-Key", "guess"), "", identity.APIKey, identity.UnknownKey},
		{"a disabled key", loop, header("X-Api-Key", "off"), "", identity.APIKey, identity.Disabled},
		{"an expired key", loop, header("X-Api-Key", "old"), "", identity.APIKey, identity.Expired},
		{"a key that expires soon", loop, header("X-Api-Key", "soon"), "tenant=key api_key=k5", 0, identity.None},
		{"a key of 513 bytes", loop, header("X-Api-Key", strings.Repeat("x", 513)), "", identity.APIKey, identity.TooLong},
		{"the id of a key is no key", loop, header("X-Api-Key", "k1"), "", identity.APIKey, identity.UnknownKey},

		{"a tenant header from an untrusted peer", remote, header("X-Tenant", "peer"), "", identity.TenantHeader, identity.Untrusted},
		{"two tenant headers from an untrusted peer", remote, header("X-Tenant", "peer", "X-Tenant", "forged"), "", identity.TenantHeader, identity.Untrusted},
		{"a tenant of 257 bytes", loop, header("X-Tenant", strings.Repeat("x", 257)), "", identity.TenantHeader, identity.TooLong},
		{"an empty tenant", loop, header("X-Tenant", ""), "", 0, identity.None},
		{"no other header names a tenant", loop, header("Tenant", "x", "X-User", "x", "X-Plan", "x", "User", "x", "X-Weir-Tenant", "x"), "", 0, identity.None},
	} {
		r := resolver(t, identity.Options{
			ClientIP:     identity.ClientIP{Header: identity.NoHeader},
			TenantHeader: "X-Tenant", Tokens: words{}, Keys: keys(t), Now: func() time.Time { return noon },
		})
		pairs, err := r.Dimensions(&http.Request{RemoteAddr: tc.peer, Header: tc.h}, nil)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		ip := "ip=127.0.0.1"
		if tc.peer == remote {
			ip = "ip=192.0.2.99"
		}
		if got := text(pairs); got != strings.TrimSpace(tc.want+" "+ip) {
			t.Errorf("%s: %s", tc.name, got)
		}
		checkWhy(t, tc.name, r, tc.what, tc.why)
	}
}

func TestRequired(t *testing.T) {
	const none, bad = "", "Bearer bad"
	for _, tc := range []struct {
		name       string
		token, key bool
		h          http.Header
		want       string
	}{
		{"a token is there", true, false, header("Authorization", "Bearer good"), ""},
		{"no token", true, false, header(), "jwt: missing"},
		{"a bad token", true, false, header("Authorization", bad), "jwt: signature"},
		{"a key is no token", true, false, header("X-Api-Key", "secret"), "jwt: missing"},
		{"the peer's word is no token", true, false, header("X-Tenant", "peer"), "jwt: missing"},
		{"a key is there", false, true, header("X-Api-Key", "secret"), ""},
		{"no key", false, true, header(), "api_key: missing"},
		{"a bad key", false, true, header("X-Api-Key", "guess"), "api_key: unknown_key"},
		{"a token is no key", false, true, header("Authorization", "Bearer good"), "api_key: missing"},
		{"a bad token before a key", false, true, header("Authorization", bad, "X-Api-Key", "secret"), "jwt: signature"},
		{"either, by token", true, true, header("Authorization", "Bearer good"), ""},
		{"either, by key", true, true, header("X-Api-Key", "secret"), ""},
		{"either, by none", true, true, header(), "jwt: missing"},
		{"either, by a bad key", true, true, header("X-Api-Key", "guess"), "api_key: unknown_key"},
	} {
		r := resolver(t, identity.Options{
			ClientIP:     identity.ClientIP{Header: identity.NoHeader},
			TenantHeader: "X-Tenant", Tokens: words{}, Keys: keys(t),
			TokenRequired: tc.token, KeyRequired: tc.key,
		})
		pairs, err := r.Dimensions(&http.Request{RemoteAddr: loop, Header: tc.h}, nil)
		got := none
		if err != nil {
			got = err.Error()
			if _, ok := errors.AsType[*identity.Rejection](err); !ok || text(pairs) != "ip=127.0.0.1" || len(r.why) != 1 {
				t.Errorf("%s: %T, %s, rejected %v", tc.name, err, text(pairs), r.why)
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestDoubled: two credentials where one belongs are an error, required or not:
// which of them the server behind reads is not known here.
func TestDoubled(t *testing.T) {
	for _, tc := range []struct {
		name string
		h    http.Header
		want string
	}{
		{"two tokens", header("Authorization", "Bearer good", "Authorization", "Bearer good"), "jwt: duplicate"},
		{"another scheme first", header("Authorization", "Basic x", "Authorization", "Bearer good"), "jwt: duplicate"},
		{"another scheme last", header("Authorization", "Bearer good", "Authorization", "Basic x"), "jwt: duplicate"},
		{"an empty line first", header("Authorization", "", "Authorization", "Bearer good"), "jwt: duplicate"},
		{"two keys", header("X-Api-Key", "secret", "X-Api-Key", "plain"), "api_key: duplicate"},
		{"junk and a key", header("X-Api-Key", "junk", "X-Api-Key", "secret"), "api_key: duplicate"},
		{"nothing and a key", header("X-Api-Key", "", "X-Api-Key", "secret"), "api_key: duplicate"},
		{"a key and nothing", header("X-Api-Key", "secret", "X-Api-Key", ""), "api_key: duplicate"},
		{"a good token and two keys", header("Authorization", "Bearer good", "X-Api-Key", "secret", "X-Api-Key", "plain"), "api_key: duplicate"},
		{"two tenants", header("X-Tenant", "peer", "X-Tenant", "forged"), "tenant_header: duplicate"},
		{"two tenants beside a token", header("Authorization", "Bearer good", "X-Tenant", "peer", "X-Tenant", "forged"), "tenant_header: duplicate"},
	} {
		r := resolver(t, identity.Options{
			ClientIP:     identity.ClientIP{Header: identity.NoHeader},
			TenantHeader: "X-Tenant", Tokens: words{}, Keys: keys(t),
		})
		pairs, err := r.Dimensions(&http.Request{RemoteAddr: loop, Header: tc.h}, nil)
		if _, ok := errors.AsType[*identity.Rejection](err); !ok || err.Error() != tc.want || text(pairs) != "ip=127.0.0.1" || len(r.why) != 1 {
			t.Errorf("%s: %v, %s, rejected %v", tc.name, err, text(pairs), r.why)
		}
	}
	// A header that nobody reads is none of ours.
	r := resolver(t, identity.Options{ClientIP: identity.ClientIP{Header: identity.NoHeader}, Keys: keys(t)})
	h := header("Authorization", "Basic x", "Authorization", "Basic y", "X-Api-Key", "plain")
	if pairs, err := r.Dimensions(&http.Request{RemoteAddr: loop, Header: h}, nil); err != nil || text(pairs) != "tenant=key api_key=k2 ip=127.0.0.1" {
		t.Errorf("%s, %v", text(pairs), err)
	}
}

// TestKeyInAuthorization: the two credentials may share that header, by scheme.
func TestKeyInAuthorization(t *testing.T) {
	r := resolver(t, identity.Options{
		ClientIP: identity.ClientIP{Header: identity.NoHeader},
		Tokens:   words{}, Keys: keys(t), KeyHeader: "authorization",
	})
	for value, want := range map[string]string{
		"ApiKey secret": keyPairs + " ip=127.0.0.1", "Bearer good": jwtPairs + " ip=127.0.0.1", "Bearer secret": "ip=127.0.0.1", "secret": "ip=127.0.0.1",
	} {
		pairs, err := r.Dimensions(&http.Request{RemoteAddr: loop, Header: header("Authorization", value)}, nil)
		if got := text(pairs); err != nil || got != want {
			t.Errorf("%s: %s, %v", value, got, err)
		}
	}
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]identity.Options{
		"hops":              {ClientIP: identity.ClientIP{Hops: 33}},
		"negative hops":     {ClientIP: identity.ClientIP{Hops: -1}},
		"hops and proxies":  {ClientIP: identity.ClientIP{Hops: 1, Proxies: identity.Loopback()}},
		"no such header":    {ClientIP: identity.ClientIP{Header: 9}},
		"v4 bits":           {ClientIP: identity.ClientIP{IPv4Bits: 33}},
		"v6 bits":           {ClientIP: identity.ClientIP{IPv6Bits: 129}},
		"few v6 bits":       {ClientIP: identity.ClientIP{IPv6Bits: 8}},
		"a header's name":   {TenantHeader: "X Tenant"},
		"a taken header":    {TenantHeader: "x-api-key"},
		"XFF as tenant":     {TenantHeader: "X-Forwarded-For"},
		"a token of nobody": {TokenRequired: true},
		"a key of nobody":   {KeyRequired: true},
		"both in one":       {TokenHeader: "X-Token", KeyHeader: "X-Token", Tokens: words{}, Keys: keys(t)},
	} {
		_, err := identity.New(o)
		if weir.CodeOf(err) != weir.CodeInvalid || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNewKeys(t *testing.T) {
	one, two := sha256.Sum256([]byte("1")), sha256.Sum256([]byte("2"))
	for name, list := range map[string][]identity.Key{
		"no id":                 {{Digest: one, Tenant: "t"}},
		"no tenant":             {{Digest: one, ID: "k"}},
		"an id twice":           {{Digest: one, ID: "k", Tenant: "t"}, {Digest: two, ID: "k", Tenant: "t"}},
		"a digest twice":        {{Digest: one, ID: "k", Tenant: "t"}, {Digest: one, ID: "l", Tenant: "t"}},
		"a long tenant":         {{Digest: one, ID: "k", Tenant: strings.Repeat("x", 257)}},
		"no digest":             {{ID: "k", Tenant: "t"}},
		"the digest of nothing": {{Digest: sha256.Sum256(nil), ID: "k", Tenant: "t"}},
	} {
		if _, err := identity.NewKeys(list); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for r := range identity.Reasons + 1 {
		if s := r.String(); s == "" || seen[s] {
			t.Errorf("reason %d is %q", r, s)
		}
		seen[r.String()] = true
	}
	clear(seen)
	for w := range identity.Whats + 1 {
		if s := w.String(); s == "" || seen[s] {
			t.Errorf("what %d is %q", w, s)
		}
		seen[w.String()] = true
	}
}
