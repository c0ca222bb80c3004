package gatewaytest

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestCredentialRequired: where Weir requires a credential, a gateway says so to
// who has none, and lets pass who has one.
func TestCredentialRequired(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{nginx, caddy, haproxy} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, k, patient)
			text, err := os.ReadFile(s.issuer.identityFile)
			if err != nil {
				t.Fatal(err)
			}
			s.weir.Stop() // it would follow the file, at a time of its own
			write(t, s.issuer.identityFile, strings.Replace(string(text), "api_keys:", "api_keys:\n  required: true", 1))
			s.weir.Start()
			c := NewClient(t, "127.0.0.60")
			Await(t, "weir to be asked again", func() error { // HAProxy looks at its health once a second
				a, err := c.try(http.MethodGet, s.gateway.Addr(), "/", nil, "X-Api-Key", apiKey)
				if err == nil && a.Header.Get("RateLimit") == "" {
					err = os.ErrNotExist
				}
				return err
			})
			s.backend.Take()
			for _, headers := range [][]string{nil, {"X-Api-Key", "k-4712"}, {"X-Weir-Tenant", keyTenant}} {
				a := c.Get(s.gateway.Addr(), "/", headers...)
				if a.Status != http.StatusUnauthorized || a.Header.Get("WWW-Authenticate") != "ApiKey" {
					t.Errorf("%q: %d, WWW-Authenticate %q", headers, a.Status, a.Header.Get("WWW-Authenticate"))
				}
			}
			if seen := s.backend.Take(); len(seen) != 0 {
				t.Errorf("the backend saw %+v", seen)
			}
		})
	}
}
