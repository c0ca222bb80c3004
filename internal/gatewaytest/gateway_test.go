package gatewaytest

import (
	"net/http"
	"strings"
	"testing"
)

// The tests of a gateway: the same for all, so that what the documents promise
// of one holds for the others.
func TestNginx(t *testing.T)   { t.Parallel(); testGateway(t, nginx) }
func TestCaddy(t *testing.T)   { t.Parallel(); testGateway(t, caddy) }
func TestHAProxy(t *testing.T) { t.Parallel(); testGateway(t, haproxy) }

func testGateway(t *testing.T, k kind) {
	s := newSite(t, k, patient)
	// One site for all of these: each comes from addresses of its own.
	t.Run("allowed", s.testAllowed)
	t.Run("denied", s.testDenied)
	t.Run("never", s.testNever)
	t.Run("routes", s.testRoutes)
	t.Run("forged route", s.testForgedRoute)
	t.Run("forged query", s.testForgedQuery)
	t.Run("backend's own 403", s.testForbidden)
	t.Run("identified", s.testIdentified)
	t.Run("forged", s.testForged)
	t.Run("forged fields", s.testForgedFields)
	t.Run("targets", s.testTargets)
	t.Run("two credentials", s.testTwoCredentials)
	t.Run("oversized", s.testOversized)
	t.Run("together", s.testTogether)
}

// fields are those that every answer about a limit has.
var fields = []string{
	"RateLimit", "RateLimit-Policy",
	"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Policy", "X-RateLimit-Scope",
}

// checkFields checks that all fields are there once, and are about a policy.
func checkFields(t *testing.T, a Answer, policy string) {
	t.Helper()
	for _, name := range fields {
		if got := a.Header.Values(name); len(got) != 1 || got[0] == "" {
			t.Errorf("%s: %q, want one value", name, got)
		}
	}
	if got := a.Header.Get("RateLimit"); !strings.HasPrefix(got, `"`+policy+`";r=`) {
		t.Errorf("RateLimit: %s, want one of %s", got, policy)
	}
	if got := a.Header.Get("X-RateLimit-Policy"); got != policy {
		t.Errorf("X-RateLimit-Policy: %s, want %s", got, policy)
	}
}

// checkNoFields checks that nobody speaks of a limit.
func checkNoFields(t *testing.T, a Answer) {
	t.Helper()
	for _, name := range fields {
		if got := a.Header.Values(name); len(got) > 0 {
			t.Errorf("%s: %q, want none", name, got)
		}
	}
}

// checkAdmitted checks that an answer is the backend's.
func checkAdmitted(t *testing.T, a Answer) {
	t.Helper()
	if a.Status != http.StatusOK || a.Body != Greeting {
		t.Fatalf("%d %q, want the backend's answer", a.Status, a.Body)
	}
}

func (s *site) testAllowed(t *testing.T) {
	const ip = "127.0.0.10"
	c := NewClient(t, ip)
	a := c.Get(s.gateway.Addr(), "/things?a=1&b=2")
	checkAdmitted(t, a)
	checkFields(t, a, "per-ip")
	if got := a.Header.Get("X-RateLimit-Remaining"); got != "19" {
		t.Errorf("remaining %s, want 19", got)
	}
	if len(a.Header.Values("Retry-After")) > 0 {
		t.Error("an admission has Retry-After")
	}
	seen := s.backend.Take()
	if len(seen) != 1 || seen[0].Method != "GET" || seen[0].URI != "/things?a=1&b=2" {
		t.Fatalf("the backend saw %+v", seen)
	}
	if got := seen[0].Header.Values("X-Forwarded-For"); len(got) != 1 || got[0] != ip {
		t.Errorf("the backend was told of the client %q, want %s", got, ip)
	}

	// A body is not Weir's business, and reaches the backend whole.
	body := strings.Repeat("0123456789abcdef", 8<<10) // 128 KiB
	checkAdmitted(t, c.Do(http.MethodPut, s.gateway.Addr(), "/things/1", strings.NewReader(body)))
	if seen := s.backend.Take(); len(seen) != 1 || seen[0].Method != "PUT" || seen[0].Body != body {
		t.Errorf("the backend saw %d requests and not the body", len(seen))
	}
	if got := s.weir.Remaining("per-ip", "ip", ip); got != perIP-2 {
		t.Errorf("%d left after 2 requests, want %d", got, perIP-2)
	}
}

func (s *site) testForbidden(t *testing.T) {
	a := NewClient(t, "127.0.0.11").Get(s.gateway.Addr(), "/forbidden")
	if a.Status != http.StatusForbidden || a.Body != Greeting {
		t.Errorf("%d %q, want the backend's own", a.Status, a.Body)
	}
	checkFields(t, a, "per-ip")
	s.backend.Take()
}
