package certtest

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
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Authority issues certificates.
type Authority struct {
	// PEM is the certificate of the authority.
	PEM []byte

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// serial numbers every certificate of the process.
var serial atomic.Int64

// New makes an authority.
func New(t testing.TB) *Authority {
	t.Helper()
	c := template("certtest authority")
	c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
	a := &Authority{cert: c, key: newKey(t)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, a.key.Public(), a.key)
	if err != nil {
		t.Fatalf("certtest: make an authority: %v", err)
	}
	// What was made has the key's id, without which chains are found by name
	// only, and all authorities here have one name.
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatalf("certtest: make an authority: %v", err)
	}
	a.PEM = encode("CERTIFICATE", der)
	return a
}

// Pool is a pool of this authority alone.
func (a *Authority) Pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// Server issues a certificate for 127.0.0.1, localhost and further names. It
// is good for a client too: servers of a cluster are each other's.
func (a *Authority) Server(t testing.TB, names ...string) *Pair {
	t.Helper()
	c := template("localhost")
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	return a.Issue(t, c, append([]string{"localhost", "127.0.0.1"}, names...)...)
}

// Client issues a certificate for a client with these names: DNS names, IP
// addresses and URIs.
func (a *Authority) Client(t testing.TB, names ...string) *Pair {
	t.Helper()
	c := template("certtest client")
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.Issue(t, c, names...)
}

// Expiring issues a certificate for a server that is good for so long, or has
// ended so long ago.
func (a *Authority) Expiring(t testing.TB, in time.Duration) *Pair {
	t.Helper()
	c := template("localhost")
	c.NotAfter = time.Now().Add(in)
	c.NotBefore = c.NotAfter.Add(-48 * time.Hour)
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	return a.Issue(t, c, "localhost", "127.0.0.1")
}

// Issue signs a certificate made of a template and names.
func (a *Authority) Issue(t testing.TB, c *x509.Certificate, names ...string) *Pair {
	t.Helper()
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else if u, err := url.Parse(name); err == nil && strings.Contains(name, "://") {
			c.URIs = append(c.URIs, u)
		} else {
			c.DNSNames = append(c.DNSNames, name)
		}
	}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatalf("certtest: issue a certificate: %v", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatalf("certtest: encode a key: %v", err)
	}
	return &Pair{Cert: encode("CERTIFICATE", der), Key: encode("PRIVATE KEY", secret), Serial: c.SerialNumber}
}

// Pair is a certificate and its key, in PEM form.
type Pair struct {
	Cert, Key []byte
	Serial    *big.Int
}

// Write writes both, over what is there: the files may be watched.
func (p *Pair) Write(t testing.TB, certFile, keyFile string) {
	t.Helper()
	Write(t, certFile, p.Cert)
	Write(t, keyFile, p.Key)
}

// TLS is the pair for a tls.Config.
func (p *Pair) TLS(t testing.TB) tls.Certificate {
	t.Helper()
	c, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		t.Fatalf("certtest: %v", err)
	}
	return c
}

// Write replaces a file by one that holds these texts, so that who reads it
// sees the one or the other.
func Write(t testing.TB, path string, texts ...[]byte) {
	t.Helper()
	var all []byte
	for _, text := range texts {
		all = append(all, text...)
	}
	err := os.WriteFile(path+".tmp", all, 0o600)
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		t.Fatalf("certtest: %v", err)
	}
}

func template(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial.Add(1)),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(30 * 24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("certtest: make a key: %v", err)
	}
	return key
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
