package gatewaytest

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/certtest"
)

// The examples with the lines of docs/gateways.md, section Over TLS, in front
// of a Weir that asks for certificates.
func TestNginxOverTLS(t *testing.T) {
	t.Parallel()
	testOverTLS(t, nginx, func(conf string) string { // what 1.22 offers unless told to
		return strings.Replace(conf, "proxy_ssl_protocols TLSv1.3;", "", 1)
	}, http.StatusInternalServerError)
}

func TestCaddyOverTLS(t *testing.T) {
	t.Parallel()
	testOverTLS(t, caddy, nil, http.StatusBadRequest) // it cannot be told to offer less than TLS 1.3
}

func TestHAProxyOverTLS(t *testing.T) {
	t.Parallel()
	testOverTLS(t, haproxy, func(conf string) string {
		return strings.Replace(conf, " ssl verify", " ssl ssl-max-ver TLSv1.2 verify", 1)
	}, http.StatusOK) // its health check finds that there is no Weir
}

// testOverTLS is told what makes TLS 1.2 of the page's lines, and what a gateway
// that asks without TLS answers.
func testOverTLS(t *testing.T, k kind, dated func(string) string, plainly int) {
	ca := certtest.New(t)
	s, good := newSecureSite(t, k, ca)
	s.startGateway(t, s.weir.HTTP, patient, s.speakTLS(t, good))
	before := s.decisions()
	t.Run("allowed", s.testAllowed)
	t.Run("denied", s.testDenied)
	t.Run("identified", s.testIdentified)
	if after := s.decisions(); after <= before {
		t.Errorf("weir_decisions_total went from %v to %v", before, after)
	}
	t.Run("another name", func(t *testing.T) {
		stranger := certificates(t, ca, ca.Client(t, "stranger.example"))
		s.testRefused(t, s.speakTLS(t, stranger))
		if text := s.weir.Log(); !strings.Contains(text, "client refused") || !strings.Contains(text, "stranger.example") {
			t.Error("the log of Weir does not tell who was refused")
		}
	})
	t.Run("another authority", func(t *testing.T) {
		other := certtest.New(t)
		s.testRefused(t, s.speakTLS(t, certificates(t, ca, other.Client(t, "gateway.example"))))
		// The server's own certificate is looked at as well.
		s.testRefused(t, s.speakTLS(t, certificates(t, other, ca.Client(t, "gateway.example"))))
	})
	t.Run("no certificate", func(t *testing.T) { s.testRefused(t, s.speakTLS(t, good), changed(t, showNothing)) })
	if dated != nil {
		t.Run("TLS 1.2", func(t *testing.T) { s.testRefused(t, s.speakTLS(t, good), changed(t, dated)) })
	}
	t.Run("no TLS", func(t *testing.T) { s.testNoTLS(t, plainly) })
}

// newSecureSite has a Weir that lets in gateway.example, and the directory of a
// gateway of that name, but no gateway yet.
func newSecureSite(t *testing.T, k kind, ca *certtest.Authority) (s *site, dir string) {
	t.Helper()
	s = &site{kind: k, backend: StartBackend(t), issuer: newIssuer(t)}
	gateway := ca.Client(t, "gateway.example")
	dir = certificates(t, ca, gateway)
	cert, key := filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key")
	ca.Server(t).Write(t, cert, key)
	s.weir = StartSecureWeir(t, weirBinary,
		&tls.Config{RootCAs: ca.Pool(), Certificates: []tls.Certificate{gateway.TLS(t)}, MinVersion: tls.VersionTLS13},
		append(s.weirArgs(t, sitePolicies), "--tls-cert", cert, "--tls-key", key,
			"--tls-client-ca", filepath.Join(dir, "ca.crt"), "--tls-client-san", "gateway.example")...)
	return s, dir
}

// certificates writes what a gateway has in /etc/weir: whom it trusts, and what
// it shows.
func certificates(t *testing.T, ca *certtest.Authority, gateway *certtest.Pair) (dir string) {
	t.Helper()
	dir = t.TempDir()
	certtest.Write(t, filepath.Join(dir, "ca.crt"), ca.PEM)
	gateway.Write(t, filepath.Join(dir, "gateway.crt"), filepath.Join(dir, "gateway.key"))
	certtest.Write(t, filepath.Join(dir, "gateway.pem"), gateway.Cert, gateway.Key)
	return dir
}

// showNothing takes the gateway's certificate out of the page's lines.
func showNothing(conf string) string {
	return regexp.MustCompile(`proxy_ssl_certificate\S* \S+;|tls_client_auth .*| crt \S+`).ReplaceAllString(conf, "")
}

// changed is an edit that has to find what it changes, in one of the files.
func changed(t *testing.T, edit func(string) string) func(string) string {
	found := false
	t.Cleanup(func() {
		if !found {
			t.Error("there was nothing to edit")
		}
	})
	return func(conf string) string {
		text := edit(conf)
		found = found || text != conf
		return text
	}
}

// testRefused: a gateway that Weir does not let in has no Weir. It does what its
// file says of that, nobody speaks of a limit, and Weir decides nothing.
func (s *site) testRefused(t *testing.T, edits ...func(string) string) {
	t.Helper()
	before := s.decisions()
	open, closed := *s, *s
	open.startGateway(t, s.weir.HTTP, append(edits, patient)...)
	closed.startGateway(t, s.weir.HTTP, append(edits, patient, changed(t, s.kind.closed))...)
	c := NewClient(t, "127.0.0.70")
	for range perLogin + 1 {
		a := c.Do(http.MethodPost, open.gateway.Addr(), "/login", nil)
		checkAdmitted(t, a)
		checkNoFields(t, a)
	}
	s.backend.Take()
	a := c.Do(http.MethodPost, closed.gateway.Addr(), "/login", nil)
	if a.Status != s.kind.away {
		t.Errorf("fails closed with %d, want %d: %s", a.Status, s.kind.away, a.Body)
	}
	checkNoFields(t, a)
	if seen := s.backend.Take(); len(seen) != 0 {
		t.Errorf("a refused request reached the backend: %+v", seen)
	}
	if after := s.decisions(); after != before {
		t.Errorf("weir_decisions_total went from %v to %v", before, after)
	}
}

// testNoTLS: the example as it is.
func (s *site) testNoTLS(t *testing.T, want int) {
	before := s.decisions()
	s.startGateway(t, s.weir.HTTP, patient)
	c := NewClient(t, "127.0.0.71")
	Await(t, fmt.Sprintf("an answer of %d", want), func() error { // HAProxy looks at Weir's health twice
		a, err := c.try(http.MethodGet, s.gateway.Addr(), "/", nil)
		if err != nil {
			return err
		}
		checkNoFields(t, a)
		if a.Status != want {
			return fmt.Errorf("%d: %s", a.Status, a.Body)
		}
		return nil
	})
	if after := s.decisions(); after != before {
		t.Errorf("weir_decisions_total went from %v to %v", before, after)
	}
}

// decisions is how many Weir has made.
func (s *site) decisions() (n float64) {
	for line := range strings.Lines(s.weir.Metrics()) {
		if strings.HasPrefix(line, "weir_decisions_total{") {
			_, value, _ := strings.Cut(line, "} ")
			f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				s.weir.t.Fatalf("%v in %s", err, line)
			}
			n += f
		}
	}
	return n
}
