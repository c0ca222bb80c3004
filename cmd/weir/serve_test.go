package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/weirlimit/weir/internal/certtest"
)

// running is a weir serve in this process, on ports of its own.
type running struct {
	*server
	log *logText
}

// startServe serves the sample until the test ends.
func startServe(t *testing.T, args ...string) *running {
	t.Helper()
	r, err := tryServe(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tryServe is startServe for what may be refused.
func tryServe(t *testing.T, args ...string) (*running, error) {
	t.Helper()
	var f serveFlags
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	f.register(flags)
	args = append([]string{"--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--drain", "1s"}, append(engineOf(t), args...)...)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	text := new(logText)
	ctx, cancel := context.WithCancel(context.Background())
	s, err := newServer(ctx, system{out: text, err: text, lookupEnv: noEnv}, &f, slog.New(slog.NewTextHandler(text, nil)))
	if err != nil {
		cancel()
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(text)
		}
	})
	text.await(t, "msg=ready", `msg="not ready"`)
	return &running{s, text}, nil
}

// addr is the address of a door.
func (r *running) addr(door string) string {
	for _, d := range r.doors {
		if d.name == door {
			return d.addr()
		}
	}
	return ""
}

// reload has the files looked at.
func (r *running) reload() {
	for _, f := range r.followed {
		f.file.Reload()
	}
}

// logText is a log that can be waited for.
type logText struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// await waits for any of some texts.
func (l *logText) await(t *testing.T, texts ...string) {
	t.Helper()
	has := func(text string) bool { return strings.Contains(l.String(), text) }
	for end := time.Now().Add(20 * time.Second); !slices.ContainsFunc(texts, has); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q is not in the log:\n%s", texts, l)
		}
	}
}

// pki is what a server with TLS and its clients need.
type pki struct {
	ca            *certtest.Authority
	cert, key, cc string // files: certificate, key, authorities of clients
	server        *certtest.Pair
}

func newPKI(t *testing.T) *pki {
	t.Helper()
	dir := t.TempDir()
	p := &pki{
		ca:   certtest.New(t),
		cert: filepath.Join(dir, "tls.crt"), key: filepath.Join(dir, "tls.key"), cc: filepath.Join(dir, "ca.crt"),
	}
	p.server = p.ca.Server(t, "weir.test")
	p.server.Write(t, p.cert, p.key)
	certtest.Write(t, p.cc, p.ca.PEM)
	return p
}

// flags are those of TLS, and mTLS.
func (p *pki) flags(more ...string) []string {
	return append([]string{"--tls-cert", p.cert, "--tls-key", p.key}, more...)
}

// client is the configuration of who shows this certificate, whatever the
// server says it wants; nil is none.
func (p *pki) client(t *testing.T, pair *certtest.Pair) *tls.Config {
	t.Helper()
	shown := new(tls.Certificate)
	if pair != nil {
		*shown = pair.TLS(t)
	}
	return &tls.Config{
		RootCAs:              p.ca.Pool(),
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return shown, nil },
	}
}
