package contest

import (
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"testing"

	"github.com/weirlimit/weir/internal/certtest"
)

// certificates are what servers with TLS show, from an authority of this run's
// own: ECDSA on P-256, as public authorities issue them.
type certificates struct {
	cert, key string // files
	pool      *x509.CertPool
}

func newCertificates(t testing.TB) *certificates {
	t.Helper()
	dir := t.TempDir()
	authority := certtest.New(t)
	c := &certificates{cert: filepath.Join(dir, "server.crt"), key: filepath.Join(dir, "server.key"), pool: authority.Pool()}
	authority.Server(t).Write(t, c.cert, c.key)
	return c
}

// client is how they are checked.
func (c *certificates) client() *tls.Config {
	return &tls.Config{RootCAs: c.pool, MinVersion: tls.VersionTLS13}
}
