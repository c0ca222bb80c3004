package tlsfile

import (
	"errors"
	"testing"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/certtest"
)

// FuzzFiles: whatever a file holds, it is a certificate that can be shown, or an
// error that names the file.
func FuzzFiles(f *testing.F) {
	ca := certtest.New(f)
	pair := ca.Server(f)
	f.Add(pair.Cert, pair.Key)
	f.Add(pair.Key, pair.Cert)
	f.Add(append(append([]byte{}, pair.Cert...), ca.PEM...), pair.Key)
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), []byte("-----BEGIN EC PRIVATE KEY-----\n"))
	f.Add([]byte("CERTIFICATE-----"), []byte("PRIVATE KEY-----"))
	f.Fuzz(func(t *testing.T, cert, key []byte) {
		c, err := parsePair("crt", cert, "key", key)
		if err == nil && (c.Leaf == nil || len(c.Certificate) == 0 || c.PrivateKey == nil) {
			t.Fatal("no error, and nothing to show")
		}
		if e, ok := errors.AsType[*weir.Error](err); err != nil && (!ok || e.Field != "crt" && e.Field != "key") {
			t.Fatalf("error %v names no file", err)
		}
		pool, err := parsePool("ca", cert)
		if (err == nil) != (pool != nil) {
			t.Fatalf("%v, %v", pool, err)
		}
	})
}
