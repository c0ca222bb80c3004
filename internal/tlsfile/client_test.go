package tlsfile_test

import (
	"crypto/tls"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/certtest"
	"github.com/weirlimit/weir/internal/tlsfile"
)

func TestClientFollowsFiles(t *testing.T) {
	ca, next := certtest.New(t), certtest.New(t)
	dir := t.TempDir()
	f := tlsfile.ClientFiles{CA: filepath.Join(dir, "ca"), Cert: filepath.Join(dir, "crt"), Key: filepath.Join(dir, "key")}
	certtest.Write(t, f.CA, ca.PEM)
	ca.Client(t).Write(t, f.Cert, f.Key)
	c, err := tlsfile.OpenClient(f)
	if err != nil {
		t.Fatal(err)
	}
	watch(t, c)
	server := func(a *certtest.Authority) string {
		return echo(t, &tls.Config{
			Certificates: []tls.Certificate{a.Server(t).TLS(t)}, ClientCAs: a.Pool(), ClientAuth: tls.RequireAndVerifyClientCert,
		})
	}
	before, after := server(ca), server(next)
	config := func() *tls.Config { c := c.Config(); c.ServerName = "localhost"; return c }
	conn, err := say(before, config())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if _, err := say(after, config()); err == nil {
		t.Error("an authority that it was not told of")
	}
	pair := next.Client(t)
	for path, text := range map[string][]byte{f.CA: next.PEM, f.Cert: pair.Cert, f.Key: pair.Key} {
		certtest.Write(t, path, text)
	}
	// The watcher may have seen some of them by itself, at any point between.
	for end := time.Now().Add(10 * time.Second); ; {
		c.Reload()
		if conn, err = say(after, config()); err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	if _, err := say(before, config()); err == nil {
		t.Error("an authority that it was told to forget")
	}
	bare, err := tlsfile.OpenClient(tlsfile.ClientFiles{})
	if err != nil || bare.Config().RootCAs != nil || bare.Config().Certificates != nil {
		t.Errorf("without files: %v", err)
	}
}
