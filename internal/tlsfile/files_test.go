package tlsfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/certtest"
	"github.com/weirlimit/weir/internal/tlsfile"
)

func isInvalid(err error, path string) bool {
	e, ok := errors.AsType[*weir.Error](err)
	return ok && e.Code == weir.CodeInvalid && e.Field == path && e.Hint != ""
}

func TestBadFiles(t *testing.T) {
	ca := certtest.New(t)
	pair, another := ca.Server(t), ca.Server(t)
	broken := []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
	encrypted := []byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n")
	badKey := []byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
	for _, tc := range []struct {
		name          string
		cert, key, ca []byte
		field, want   string
	}{
		{"no certificate", nil, pair.Key, ca.PEM, "tls.crt", "holds no certificate"},
		{"swapped", pair.Key, pair.Cert, ca.PEM, "tls.crt", "swapped"},
		{"no key", pair.Cert, []byte("hello"), ca.PEM, "tls.key", "holds no private key"},
		{"a key under a password", pair.Cert, encrypted, ca.PEM, "tls.key", "openssl pkey"},
		{"a broken key", pair.Cert, badKey, ca.PEM, "tls.key", "cannot be used"},
		{"another's key", pair.Cert, another.Key, ca.PEM, "tls.key", "is not the key of the certificate in"},
		{"a broken certificate", broken, pair.Key, ca.PEM, "tls.crt", "certificate 1 of the file is malformed"},
		{"no authority", pair.Cert, pair.Key, pair.Key, "ca.crt", "holds no certificate"},
		{"half a bundle", pair.Cert, pair.Key, append(append([]byte{}, ca.PEM...), broken...), "ca.crt", "certificate 2 of the file is malformed"},
	} {
		d := newDisk(t)
		certtest.Write(t, d.Cert, tc.cert)
		certtest.Write(t, d.Key, tc.key)
		certtest.Write(t, d.ClientCA, tc.ca)
		_, err := tlsfile.OpenServer(d.ServerFiles)
		e, ok := errors.AsType[*weir.Error](err)
		if !ok || filepath.Base(e.Field) != tc.field || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
		_, err = tlsfile.OpenClient(tlsfile.ClientFiles{CA: d.ClientCA, Cert: d.Cert, Key: d.Key})
		if e, ok := errors.AsType[*weir.Error](err); !ok || filepath.Base(e.Field) != tc.field {
			t.Errorf("%s, as a client: %v", tc.name, err)
		}
	}
	d := newDisk(t)
	if _, err := tlsfile.OpenServer(d.ServerFiles); !isInvalid(err, d.Cert) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no files: %v", err)
	}
}

func TestWarning(t *testing.T) {
	ca := certtest.New(t)
	for _, tc := range []struct {
		left time.Duration
		want string
	}{
		{-time.Hour, "has expired"},
		{time.Hour, "within 7 days"},
		{tlsfile.Soon - time.Minute, "within 7 days"},
		{tlsfile.Soon + time.Hour, "not valid yet"}, // it begins two days before its end
	} {
		d := newDisk(t)
		d.write(ca.Expiring(t, tc.left), ca.PEM)
		s := d.open()
		if got := s.Warning(time.Now()); !strings.Contains(got, tc.want) {
			t.Errorf("ends in %v: %q", tc.left, got)
		}
		if got := time.Until(s.Expires()); got < tc.left-time.Minute || got > tc.left+time.Minute {
			t.Errorf("ends in %v, not %v", got, tc.left)
		}
	}
	d := newDisk(t)
	d.write(ca.Server(t), ca.PEM)
	if got := d.open().Warning(time.Now()); got != "" {
		t.Errorf("a good one: %q", got)
	}
}
