package gatewaytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"strings"
	"testing"
	"time"
)

// testIdentified: a good token and a good key say whose quota is spent.
func (s *site) testIdentified(t *testing.T) {
	for _, c := range []struct{ tenant, ip, name, value string }{
		{"acme", "127.0.0.20", "Authorization", "Bearer " + s.issuer.token(claims("acme"))},
		{keyTenant, "127.0.0.21", "X-Api-Key", apiKey},
	} {
		client := NewClient(t, c.ip)
		for range perTenant {
			a := client.Get(s.gateway.Addr(), "/", c.name, c.value)
			checkAdmitted(t, a)
			checkFields(t, a, "per-tenant")
		}
		s.backend.Take()
		checkDenied(t, client.Get(s.gateway.Addr(), "/", c.name, c.value), "per-tenant", perTenant, "tenant")
		if seen := s.backend.Take(); len(seen) != 0 {
			t.Errorf("%s: the denied request reached the backend", c.tenant)
		}
		if got := s.weir.Remaining("per-ip", "ip", c.ip); got != perIP-perTenant {
			t.Errorf("%s: %d left of its address", c.tenant, got)
		}
	}
}

// testForged: whatever a client claims without proof, it spends its own quota
// and no other's.
func (s *site) testForged(t *testing.T) {
	const (
		attacker, victim = "127.0.0.30", "127.0.0.31"
		tenant           = "victim"
	)
	none := func(string) []byte { return nil }
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := s.issuer.key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	bearer := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	client := NewClient(t, attacker)
	left := s.weir.Remaining("per-ip", "ip", attacker)
	for _, c := range []struct {
		name    string
		headers []string
	}{
		{"X-Forwarded-For", []string{"X-Forwarded-For", victim}},
		{"X-Forwarded-For, a list", []string{"X-Forwarded-For", victim + ", " + victim}},
		{"X-Forwarded-For, twice", []string{"X-Forwarded-For", victim, "X-Forwarded-For", victim}},
		{"Forwarded", []string{"Forwarded", "for=" + victim}},
		{"X-Real-IP", []string{"X-Real-IP", victim}},
		{"tenant header", []string{"X-Weir-Tenant", tenant}},
		{"tenant header of another name", []string{"X-Tenant", tenant, "Tenant", tenant}},
		{"hop-by-hop", []string{"Connection", "X-Forwarded-For, X-Weir-Tenant", "X-Forwarded-For", victim, "X-Weir-Tenant", tenant}},
		{"alg none", bearer(s.issuer.tokenBy("none", claims(tenant), none))},
		{"alg None", bearer(s.issuer.tokenBy("None", claims(tenant), none))},
		{"signed with the public key", bearer(s.issuer.tokenBy("HS256", claims(tenant), func(text string) []byte {
			mac := hmac.New(sha256.New, point)
			mac.Write([]byte(text))
			return mac.Sum(nil)
		}))},
		{"expired", bearer(s.issuer.token(claims(tenant, "exp", time.Now().Add(-time.Hour).Unix())))},
		{"without an expiry", bearer(s.issuer.token(claims(tenant, "exp", nil)))},
		{"for another audience", bearer(s.issuer.token(claims(tenant, "aud", "another")))},
		{"of another issuer", bearer(s.issuer.token(claims(tenant, "iss", "https://another.test")))},
		{"of a stranger's key", bearer((&issuer{t: t, key: stranger}).token(claims(tenant)))},
		{"unknown API key", []string{"X-Api-Key", "k-4712"}},
	} {
		a := client.Get(s.gateway.Addr(), "/", c.headers...)
		checkAdmitted(t, a)
		left--
		if got := s.weir.Remaining("per-ip", "ip", attacker); got != left {
			t.Errorf("%s: %d left of the attacker's own quota, want %d", c.name, got, left)
			left = got
		}
		if got := s.weir.Remaining("per-ip", "ip", victim); got != perIP {
			t.Fatalf("%s: %d left of the victim's address, want %d", c.name, got, perIP)
		}
		if got := s.weir.Remaining("per-tenant", "tenant", tenant); got != perTenant {
			t.Fatalf("%s: %d left of the victim's tenant, want %d", c.name, got, perTenant)
		}
		for _, seen := range s.backend.Take() {
			for _, name := range []string{"X-Forwarded-For", "X-Real-Ip", "Forwarded", "X-Tenant", "X-Weir-Tenant"} {
				if got := strings.Join(seen.Header.Values(name), ","); strings.Contains(got, victim) || strings.Contains(got, tenant) {
					t.Errorf("%s: the backend is told %s: %s", c.name, name, got)
				}
			}
		}
	}
}

// testForgedFields: a client that sends the fields of an answer gets Weir's.
func (s *site) testForgedFields(t *testing.T) {
	c := NewClient(t, "127.0.0.32")
	var headers []string
	for _, name := range append([]string{"X-Weir-Status", "X-Weir-Asked", "Retry-After"}, fields...) {
		headers = append(headers, name, "yes")
	}
	a := c.Do(http.MethodPost, s.gateway.Addr(), "/login", nil, headers...)
	checkAdmitted(t, a)
	checkFields(t, a, "logins")
	checkDenied(t, c.Do(http.MethodPost, s.gateway.Addr(), "/login", nil, headers...), "logins", perLogin, "ip")
	s.backend.Take()
}

// testOversized: what Weir would not take is refused; none of it makes Weir look
// away, so that a gateway that fails open would let it pass.
func (s *site) testOversized(t *testing.T) {
	c := NewClient(t, "127.0.0.33")
	// HAProxy's Lua client is not to be tried with what its buffer may not hold.
	if a := c.Get(s.gateway.Addr(), "/", "Authorization", "Bearer "+strings.Repeat("x", 13<<10)); s.kind.name == "haproxy" && a.Status != 431 {
		t.Errorf("a token of 13 KiB: %d, want weir.lua's 431", a.Status)
	}
	s.backend.Take()
	for _, size := range []int{2 << 10, 5 << 10, 7 << 10, 11 << 10, 12 << 10, 14 << 10, 15 << 10, 16 << 10, 20 << 10, 40 << 10, 100 << 10, 900 << 10} {
		long := strings.Repeat("x", size)
		half := long[:size/2]
		for name, try := range map[string]func() (Answer, error){
			"path": func() (Answer, error) { return c.try(http.MethodGet, s.gateway.Addr(), "/"+long, nil) },
			"token": func() (Answer, error) {
				return c.try(http.MethodGet, s.gateway.Addr(), "/", nil, "Authorization", "Bearer "+long)
			},
			"both": func() (Answer, error) {
				return c.try(http.MethodGet, s.gateway.Addr(), "/"+half, nil, "Authorization", "Bearer "+half)
			},
			"keys": func() (Answer, error) {
				return c.try(http.MethodGet, s.gateway.Addr(), "/", nil, "X-Api-Key", half, "Authorization", "Bearer "+half)
			},
			"others": func() (Answer, error) {
				return c.try(http.MethodGet, s.gateway.Addr(), "/", nil, "X-Other", half, "X-Another", half)
			},
		} {
			a, err := try()
			seen := s.backend.Take()
			// A gateway may close the connection on what it does not take.
			if err == nil && a.Status < 400 {
				if a.Header.Get("RateLimit") == "" {
					t.Errorf("%s of %d bytes passed without being counted", name, size)
				}
				continue
			}
			if len(seen) > 0 {
				t.Errorf("%s of %d bytes was refused (%d, %v) and reached the backend", name, size, a.Status, err)
			}
		}
	}
}
