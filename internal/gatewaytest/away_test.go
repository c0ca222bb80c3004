package gatewaytest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// What happens while Weir is away: what the files say.
func TestNginxWeirAway(t *testing.T)   { t.Parallel(); testAway(t, nginx) }
func TestCaddyWeirAway(t *testing.T)   { t.Parallel(); testAway(t, caddy) }
func TestHAProxyWeirAway(t *testing.T) { t.Parallel(); testAway(t, haproxy) }

func testAway(t *testing.T, k kind) {
	t.Run("open", func(t *testing.T) { testOpen(t, k) })
	t.Run("closed", func(t *testing.T) { testClosed(t, k) })
	t.Run("slow", func(t *testing.T) { testSlow(t, k) })
	t.Run("undecided", func(t *testing.T) { testUndecided(t, k) })
	t.Run("unavailable", func(t *testing.T) { testUnavailable(t, k) })
}

// counted asks until the answer speaks of a limit: Weir is back.
func (s *site) counted(t *testing.T, c *Client) {
	t.Helper()
	Await(t, "requests to be counted again", func() error {
		a, err := c.try(http.MethodGet, s.gateway.Addr(), "/", nil)
		if err == nil && (a.Status != http.StatusOK || a.Header.Get("RateLimit") == "") {
			err = fmt.Errorf("%d, RateLimit %q", a.Status, a.Header.Get("RateLimit"))
		}
		return err
	})
	s.backend.Take()
}

// testOpen: requests pass, with their bodies, and nobody speaks of limits; then
// they are counted again.
func testOpen(t *testing.T, k kind) {
	s := newSite(t, k, patient)
	c := NewClient(t, "127.0.0.40")
	s.counted(t, c)
	s.weir.Stop()
	for range 3 {
		a := c.Do(http.MethodPost, s.gateway.Addr(), "/login", strings.NewReader("user=me"), "RateLimit", "forged", "X-Weir-Asked", "yes")
		checkAdmitted(t, a)
		checkNoFields(t, a)
		if seen := s.backend.Take(); len(seen) != 1 || seen[0].Body != "user=me" || seen[0].Method != http.MethodPost {
			t.Errorf("the backend saw %+v", seen)
		}
	}
	// An error of the backend's is not Weir's: it is tried once, and told.
	if a := c.Get(s.gateway.Addr(), "/forbidden"); a.Status != http.StatusForbidden {
		t.Errorf("%d, want the backend's own 403", a.Status)
	}
	s.backend.Take()
	s.weir.Start()
	s.counted(t, c)
}

// testClosed: requests are refused and reach nobody; then they pass again.
func testClosed(t *testing.T, k kind) {
	s := newSite(t, k, patient, k.closed)
	c := NewClient(t, "127.0.0.41")
	s.counted(t, c)
	s.weir.Stop()
	for range 3 {
		if a := c.Get(s.gateway.Addr(), "/"); a.Status != k.away {
			t.Errorf("%d, want %d: %s", a.Status, k.away, a.Body)
		}
	}
	if seen := s.backend.Take(); len(seen) != 0 {
		t.Errorf("refused requests reached the backend: %+v", seen)
	}
	s.weir.Start()
	s.counted(t, c)
}

// testSlow: a Weir that takes connections and never answers costs a request
// little, by the bounds that the files have, and is not asked twice.
func testSlow(t *testing.T, k kind) {
	const ip = "127.0.0.42"
	s := newSite(t, k)
	other := NewClient(t, "127.0.0.45")
	s.counted(t, other)
	s.weir.Pause()
	began := time.Now()
	a := NewClient(t, ip).Get(s.gateway.Addr(), "/")
	took := time.Since(began)
	s.weir.Resume()
	checkAdmitted(t, a)
	checkNoFields(t, a)
	if took > 3*time.Second { // a quarter of a second on an idle machine
		t.Errorf("the answer took %v", took)
	}
	s.counted(t, other)
	// Weir may have read the question when it was back.
	if got := s.weir.Remaining("per-ip", "ip", ip); got < perIP-1 {
		t.Errorf("%d left of %d: the slow request was charged more than once", got, perIP)
	}
}

// testUndecided: a Weir that has no policies cannot decide, and counts as away.
func testUndecided(t *testing.T, k kind) {
	for _, c := range []struct {
		edit func(string) string
		want int
	}{
		{func(s string) string { return s }, http.StatusOK},
		{k.closed, 503},
	} {
		s := newSiteWith(t, k, brokenPolicies, nil, patient, c.edit)
		if a := NewClient(t, "127.0.0.43").Get(s.gateway.Addr(), "/"); a.Status != c.want {
			t.Errorf("%d, want %d: %s", a.Status, c.want, a.Body)
		}
	}
}

// testUnavailable: Weir is there, its store is not, and the policy fails closed:
// that is a decision, and a gateway that fails open does not change it.
func testUnavailable(t *testing.T, k kind) {
	policies := strings.ReplaceAll(sitePolicies, "open", "closed")
	s := newSiteWith(t, k, policies, []string{"--redis", FreeAddr(t), "--deadline", "50ms"}, patient)
	a := NewClient(t, "127.0.0.44").Get(s.gateway.Addr(), "/")
	if a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
		t.Fatalf("%d, Retry-After %q: %s", a.Status, a.Header.Get("Retry-After"), a.Body)
	}
	if p := readProblem(t, a); !strings.HasSuffix(p.Type, "#temporary-reduced-capacity") {
		t.Errorf("%+v", p)
	}
	if seen := s.backend.Take(); len(seen) != 0 {
		t.Errorf("refused requests reached the backend: %+v", seen)
	}
}
