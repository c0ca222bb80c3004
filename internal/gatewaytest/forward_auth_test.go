package gatewaytest

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCaddyForwardAuth: the short form in docs/gateways.md does what is said of
// it.
func TestCaddyForwardAuth(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(Root(), "docs", "gateways.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```caddyfile\n")
	text, _, ok := strings.Cut(text, "```\n")
	if !ok || !strings.Contains(text, "forward_auth") {
		t.Fatal("docs/gateways.md has no forward_auth")
	}
	// In front of it, what any Caddy on loopback with another beside it needs.
	const global = "{\n\tauto_https off\n\tadmin off\n}\n"
	short := kind{name: "caddy, short", start: func(t *testing.T, a Addrs, edit func(string) string) *Gateway {
		return StartCaddy(t, a.Gateway, edit(a.Rewrite(global+text)))
	}}
	s := newSite(t, short)
	t.Run("denied", s.testDenied)
	t.Run("routes", s.testRoutes)
	t.Run("forged route", s.testForgedRoute)
	t.Run("forged query", s.testForgedQuery)
	t.Run("forged", s.testForged)
	t.Run("targets", s.testTargets)
	t.Run("two credentials", s.testTwoCredentials)
	t.Run("identified", func(t *testing.T) {
		c := NewClient(t, "127.0.0.50")
		for range perTenant {
			checkAdmitted(t, c.Get(s.gateway.Addr(), "/", "X-Api-Key", apiKey))
		}
		checkDenied(t, c.Get(s.gateway.Addr(), "/", "X-Api-Key", apiKey), "per-tenant", perTenant, "tenant")
	})
	s.backend.Take()
	s.weir.Stop()
	if a := NewClient(t, "127.0.0.51").Get(s.gateway.Addr(), "/"); a.Status != http.StatusBadGateway {
		t.Errorf("%d without Weir, want 502", a.Status)
	}
	if seen := s.backend.Take(); len(seen) != 0 {
		t.Errorf("a refused request reached the backend: %+v", seen)
	}
}
