package redistest

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirlimit/weir/internal/certtest"
)

// clientName is the name in client certificates.
const clientName = "redistest.client"

// Certs are an authority of their own and the certificates it issued, as PEM
// files that last as long as the test.
type Certs struct {
	CAFile         string
	ServerCertFile string // for 127.0.0.1 and localhost
	ServerKeyFile  string
	ClientCertFile string // its one name is redistest.client
	ClientKeyFile  string

	t         testing.TB
	authority *certtest.Authority
}

// NewCerts makes an authority, a server and a client certificate. Two calls
// make authorities that do not trust each other.
func NewCerts(t testing.TB) *Certs {
	t.Helper()
	dir := t.TempDir()
	c := &Certs{
		CAFile:         filepath.Join(dir, "ca.crt"),
		ServerCertFile: filepath.Join(dir, "server.crt"),
		ServerKeyFile:  filepath.Join(dir, "server.key"),
		ClientCertFile: filepath.Join(dir, "client.crt"),
		ClientKeyFile:  filepath.Join(dir, "client.key"),
		t:              t,
	}
	c.authority = certtest.New(t)
	certtest.Write(t, c.CAFile, c.authority.PEM)
	c.issue()
	return c
}

// issue writes new certificates for the server and the client.
func (c *Certs) issue() {
	c.t.Helper()
	c.authority.Server(c.t).Write(c.t, c.ServerCertFile, c.ServerKeyFile)
	c.authority.Client(c.t, clientName).Write(c.t, c.ClientCertFile, c.ClientKeyFile)
}

// Rotate replaces the authority and both certificates in the files, the way it
// is done without an interruption, and has the servers read them: both
// authorities are trusted first, then the certificates change, then the old
// authority goes. Between the steps it calls each of the functions, for clients
// to follow. Connections that are open go on.
func (c *Certs) Rotate(s *Server, step ...func()) {
	c.t.Helper()
	old, next := c.authority, certtest.New(c.t)
	for _, change := range []func(){
		func() { certtest.Write(c.t, c.CAFile, old.PEM, next.PEM) },
		func() { c.authority = next; c.issue() },
		func() { certtest.Write(c.t, c.CAFile, next.PEM) },
	} {
		change()
		s.MustDo("CONFIG", "SET", "tls-ca-cert-file", c.CAFile,
			"tls-cert-file", c.ServerCertFile, "tls-key-file", c.ServerKeyFile)
		for _, f := range step {
			f()
		}
	}
}

// ClientConfig returns a configuration that trusts the authority and presents
// the client certificate, as the files are now. It is the caller's own.
func (c *Certs) ClientConfig() *tls.Config {
	tc, err := c.clientConfig()
	if err != nil {
		c.t.Fatalf("redistest: read certificates: %v", err)
	}
	return tc
}

func (c *Certs) clientConfig() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(c.ClientCertFile, c.ClientKeyFile)
	if err != nil {
		return nil, err
	}
	pemCA, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pemCA)
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}
