package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Certs are an authority of their own and the certificates it issued, as PEM
// files that last as long as the test.
type Certs struct {
	CAFile         string
	ServerCertFile string // for 127.0.0.1 and localhost
	ServerKeyFile  string
	ClientCertFile string
	ClientKeyFile  string

	client *tls.Config
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
	}
	if err := c.make(); err != nil {
		t.Fatalf("redistest: make certificates: %v", err)
	}
	return c
}

// ClientConfig returns a configuration that trusts the authority and presents
// the client certificate. It is the caller's own.
func (c *Certs) ClientConfig() *tls.Config { return c.client.Clone() }

func (c *Certs) make() error {
	ca := template("redistest authority", 1)
	ca.IsCA, ca.BasicConstraintsValid = true, true
	ca.KeyUsage = x509.KeyUsageCertSign
	authority, err := newIssuer(ca, c.CAFile)
	if err != nil {
		return err
	}

	server := template("localhost", 2)
	server.DNSNames = []string{"localhost"}
	server.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	// A node is a client too, of its primary and of the cluster's other nodes.
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	if err := authority.issue(server, c.ServerCertFile, c.ServerKeyFile); err != nil {
		return err
	}

	client := template("redistest client", 3)
	client.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if err := authority.issue(client, c.ClientCertFile, c.ClientKeyFile); err != nil {
		return err
	}

	pair, err := tls.LoadX509KeyPair(c.ClientCertFile, c.ClientKeyFile)
	if err != nil {
		return err
	}
	pemCA, err := os.ReadFile(c.CAFile)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pemCA)
	c.client = &tls.Config{
		RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
	}
	return nil
}

func template(name string, serial int64) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

// issuer is an authority's certificate and key. The key is never written.
type issuer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newIssuer makes a key for the authority and signs its certificate with it.
func newIssuer(cert *x509.Certificate, certFile string) (*issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &issuer{cert, key}, writePEM(certFile, "CERTIFICATE", der)
}

// issue makes a key, signs a certificate for it, and writes both.
func (is *issuer) issue(cert *x509.Certificate, certFile, keyFile string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, is.cert, key.Public(), is.key)
	if err != nil {
		return err
	}
	if err := writePEM(certFile, "CERTIFICATE", der); err != nil {
		return err
	}
	if der, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
		return err
	}
	return writePEM(keyFile, "PRIVATE KEY", der)
}

func writePEM(file, kind string, der []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
