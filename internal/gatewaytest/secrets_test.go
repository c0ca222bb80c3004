package gatewaytest

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What clients prove themselves with, and what they put into a query, is in no
// log: not in Weir's, at its most talkative, nor in what the examples make the
// gateways write.
func TestNginxSecrets(t *testing.T) {
	t.Parallel()
	testSecrets(t, nginx, nil)
}

func TestCaddySecrets(t *testing.T) {
	t.Parallel()
	testSecrets(t, caddy, func(conf string) string { // the access log that it does not have by itself
		return strings.Replace(conf, "\tbind 127.0.0.1\n", "\tbind 127.0.0.1\n\tlog\n", 1)
	})
}

func TestHAProxySecrets(t *testing.T) {
	t.Parallel()
	testSecrets(t, haproxy, func(conf string) string { // the access log that is off
		return strings.Replace(conf, "local0 notice", "local0 info", 1)
	})
}

// The parts of a request that must not be found again; a token that is good has
// its own.
const (
	querySecret = "canary-of-the-query"
	tokenSecret = "canary-of-a-bad-token"
	basicSecret = "Y2FuYXJ5OnBhc3N3b3Jk"
	keySecret   = "canary-of-an-unknown-key"
	secretPath  = "/seen-in-the-log"
)

func testSecrets(t *testing.T, k kind, talkative func(string) string) {
	edits := []func(string) string{patient}
	if talkative != nil {
		edits = append(edits, changed(t, talkative))
	}
	s := newSiteWith(t, k, sitePolicies, []string{"--log-level", "debug"}, edits...)
	// The other one fails closed, and has no backend: it has errors to log. HAProxy
	// tries a backend four times, so long apart.
	other := *s
	other.backend = &Backend{addr: FreeAddr(t)}
	other.startGateway(t, s.weir.HTTP, append(edits, changed(t, k.closed), func(conf string) string {
		return strings.Replace(conf, "timeout connect 1s", "timeout connect 10ms", 1)
	})...)

	token := s.issuer.token(claims("secretive"))
	secrets := []string{tokenSecret, basicSecret, keySecret, apiKey}
	secrets = append(secrets, strings.Split(token, ".")[1:]...) // all tokens have the first part
	ask := func() {
		t.Helper()
		for _, headers := range [][]string{
			{"Authorization", "Bearer " + token},
			{"Authorization", "Bearer " + tokenSecret, "X-Api-Key", apiKey},
			{"Authorization", "Basic " + basicSecret, "X-Api-Key", keySecret},
			{"X-Api-Key", apiKey},
		} {
			query := "?api_key=" + querySecret + "&token=" + token
			c := NewClient(t, "127.0.0.80")
			checkAdmitted(t, c.Get(s.gateway.Addr(), secretPath+query, headers...))
			if a := c.Get(other.gateway.Addr(), secretPath+query, headers...); a.Status < 500 {
				t.Errorf("%d without a backend", a.Status)
			}
		}
	}
	ask()
	// Denied as well: the tenant has no more.
	for range perTenant {
		NewClient(t, "127.0.0.81").Get(s.gateway.Addr(), secretPath+"?token="+querySecret, "X-Api-Key", apiKey)
	}
	if a := NewClient(t, "127.0.0.81").Get(s.gateway.Addr(), secretPath+"?token="+querySecret, "X-Api-Key", apiKey); a.Status != http.StatusTooManyRequests {
		t.Errorf("%d, want a denial", a.Status)
	}
	metrics := s.weir.Metrics()
	s.weir.Stop()
	ask()
	s.gateway.Stop() // all is written
	other.gateway.Stop()

	checkSecrets(t, "Weir's log", s.weir.Log(), "ready", append(secrets, querySecret))
	checkSecrets(t, "Weir's metrics", metrics, "weir_decisions_total", append(secrets, querySecret))
	for _, g := range []*Gateway{s.gateway, other.gateway} {
		if k.name != "nginx" {
			checkSecrets(t, k.name+"'s log", g.Log(), secretPath, append(secrets, querySecret))
			continue
		}
		access, err := os.ReadFile(filepath.Join(g.command.Dir, "access.log"))
		if err != nil {
			t.Fatal(err)
		}
		checkSecrets(t, "nginx's access log", string(access), secretPath, append(secrets, querySecret))
		// An error is told with the request's first line, whatever is set: the page
		// warns of it. Nothing else is.
		errors := strings.ReplaceAll(g.Log(), "api_key="+querySecret+"&token="+token, "QUERY")
		checkSecrets(t, "nginx's error log", errors, secretPath+"?QUERY HTTP/1.1\"", append(secrets, querySecret))
	}
}

// checkSecrets checks that a text has something, so that it is the right one,
// and none of the secrets.
func checkSecrets(t *testing.T, what, text, has string, secrets []string) {
	t.Helper()
	if !strings.Contains(text, has) {
		t.Errorf("%s has no %s", what, has)
	}
	for _, secret := range secrets {
		if _, after, found := strings.Cut(text, secret); found {
			before := strings.TrimSuffix(text, secret+after)
			t.Errorf("%s has %s, in ...%s", what, secret, before[max(0, len(before)-200):])
		}
	}
}
