package certtest_test

import (
	"crypto/x509"
	"testing"

	"github.com/weirlimit/weir/internal/certtest"
)

func TestAuthoritiesAreApart(t *testing.T) {
	a, b := certtest.New(t), certtest.New(t)
	pair := a.Client(t, "gateway.example", "spiffe://example/gateway", "10.0.0.1")
	leaf, err := x509.ParseCertificate(pair.TLS(t).Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(leaf.DNSNames) != 1 || len(leaf.URIs) != 1 || len(leaf.IPAddresses) != 1 || leaf.SerialNumber.Cmp(pair.Serial) != 0 {
		t.Errorf("names %v %v %v, serial %v", leaf.DNSNames, leaf.URIs, leaf.IPAddresses, leaf.SerialNumber)
	}
	client := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: a.Pool(), KeyUsages: client}); err != nil {
		t.Error(err)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: b.Pool(), KeyUsages: client}); err == nil {
		t.Error("another authority vouches for it")
	}
}
