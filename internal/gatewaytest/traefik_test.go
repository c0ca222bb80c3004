//go:build traefik

package gatewaytest

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// traefik is not in Debian and takes a quarter of an hour to build: make
// test-traefik does, and runs this.
var traefik = kind{name: "traefik", lenient: true, start: func(t *testing.T, a Addrs, edit func(string) string) *Gateway {
	t.Helper()
	g, dir := newGateway(t, a.Gateway)
	if g.command.Path = os.Getenv("WEIR_TRAEFIK"); g.command.Path == "" {
		t.Fatal("WEIR_TRAEFIK does not say where Traefik is: run make test-traefik")
	}
	dynamic := write(t, filepath.Join(dir, "dynamic.yml"), edit(a.Rewrite(Example(t, "traefik/dynamic.yml"))))
	static := strings.ReplaceAll(edit(a.Rewrite(Example(t, "traefik/traefik.yml"))), "examples/traefik/dynamic.yml", dynamic)
	g.command.Args = []string{"--configFile=" + write(t, filepath.Join(dir, "traefik.yml"), static)}
	g.start()
	// It listens before it has read its routes.
	c := NewClient(t, "127.0.0.99")
	Await(t, "traefik to have its routes", func() error {
		answer, err := c.try(http.MethodGet, a.Gateway, "/", nil)
		if err == nil && answer.Status == http.StatusNotFound {
			err = fmt.Errorf("%d", answer.Status)
		}
		return err
	})
	return g
}}

// TestTraefik: the files of examples/traefik do what docs/gateways.md says of
// them.
func TestTraefik(t *testing.T) {
	s := newSite(t, traefik)
	s.backend.Take()
	t.Run("allowed", func(t *testing.T) {
		a := NewClient(t, "127.0.0.50").Get(s.gateway.Addr(), "/orders?id=1")
		checkAdmitted(t, a)
		if seen := s.backend.Take(); len(seen) != 1 || seen[0].URI != "/orders?id=1" {
			t.Errorf("the backend saw %+v", seen)
		}
	})
	t.Run("denied", s.testDenied)
	t.Run("never", s.testNever)
	t.Run("routes", s.testRoutes)
	t.Run("forged route", s.testForgedRoute)
	t.Run("forged query", s.testForgedQuery)
	t.Run("backend's own 403", func(t *testing.T) {
		if a := NewClient(t, "127.0.0.53").Get(s.gateway.Addr(), "/forbidden"); a.Status != http.StatusForbidden {
			t.Errorf("%d", a.Status)
		}
		s.backend.Take()
	})
	t.Run("forged", s.testForged)
	t.Run("targets", s.testTargets)
	t.Run("two credentials", s.testTwoCredentials)
	t.Run("identified", func(t *testing.T) {
		c := NewClient(t, "127.0.0.51")
		for range perTenant {
			checkAdmitted(t, c.Get(s.gateway.Addr(), "/", "X-Api-Key", apiKey))
		}
		checkDenied(t, c.Get(s.gateway.Addr(), "/", "X-Api-Key", apiKey), "per-tenant", perTenant, "tenant")
	})
	s.backend.Take()
	t.Run("Weir away", func(t *testing.T) {
		s.weir.Stop()
		c := NewClient(t, "127.0.0.52")
		if a := c.Get(s.gateway.Addr(), "/"); a.Status != http.StatusInternalServerError {
			t.Errorf("%d without Weir, want 500", a.Status)
		}
		if seen := s.backend.Take(); len(seen) != 0 {
			t.Errorf("a refused request reached the backend: %+v", seen)
		}
		s.weir.Start()
		checkAdmitted(t, c.Get(s.gateway.Addr(), "/"))
	})
}
