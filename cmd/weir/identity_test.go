package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// identityOf writes a file for --identity.
func identityOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "identity.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestProviderAwayIsSaidOnce: in one line, which does not blame a file.
func TestProviderAwayIsSaidOnce(t *testing.T) {
	asked := make(chan struct{}, 1000)
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer p.Close()
	s := startServe(t, "--identity", identityOf(t, "jwt: {issuer: i, audience: a, jwks_url: '"+p.URL+"', jwks_retry: 10ms}\n"))
	for range 4 { // at the start, as Watch begins, and twice more: by then the second was told, if it is
		select {
		case <-asked:
		case <-time.After(20 * time.Second):
			t.Fatal("the provider is not asked again")
		}
	}
	log := s.log.String()
	if n := strings.Count(log, "level=ERROR"); n != 1 || !strings.Contains(log, "no token is believed until they arrive") ||
		!strings.Contains(log, "answers 503") || strings.Contains(log, "file is wrong") {
		t.Errorf("%d errors:\n%s", n, log)
	}
}

func TestWideTrustIsWarnedOf(t *testing.T) {
	s := startServe(t, "--identity", identityOf(t, "trusted_peers: [0.0.0.0/0]\ntenant_header: X-Tenant\n"))
	log := s.log.String()
	if !strings.Contains(log, "level=WARN") || !strings.Contains(log, "identity.yaml:1:17: trusted_peers has 0.0.0.0/0") ||
		!strings.Contains(log, `hint="list the addresses of your gateways only"`) {
		t.Errorf("no warning:\n%s", log)
	}
	if log := startServe(t, "--identity", identityOf(t, "trusted_peers: [10.0.0.0/8]\n")).log.String(); strings.Contains(log, "WARN") {
		t.Errorf("a warning:\n%s", log)
	}
}
