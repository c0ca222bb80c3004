package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/certtest"
)

const (
	gatewayName  = "gateway.example"
	operatorName = "spiffe://example/operator"
)

// wardrobe is what a server and its clients show and trust, as it changes.
type wardrobe struct {
	t           *testing.T
	cert, key   string // files of the server
	clientCA    string // file
	authority   *certtest.Authority
	server      *certtest.Pair
	clientPair  atomic.Pointer[tls.Certificate] // what clients show
	clientRoots atomic.Pointer[x509.CertPool]   // what clients trust
}

func newWardrobe(t *testing.T) *wardrobe {
	dir := t.TempDir()
	d := &wardrobe{
		t: t, cert: filepath.Join(dir, "tls.crt"), key: filepath.Join(dir, "tls.key"), clientCA: filepath.Join(dir, "ca.crt"),
		authority: certtest.New(t),
	}
	d.server = d.authority.Server(t)
	d.server.Write(t, d.cert, d.key)
	certtest.Write(t, d.clientCA, d.authority.PEM)
	d.dress(d.authority)
	d.trust(d.authority)
	return d
}

// dress gives clients a certificate of this authority.
func (d *wardrobe) dress(a *certtest.Authority) {
	c := a.Client(d.t, gatewayName, operatorName).TLS(d.t)
	d.clientPair.Store(&c)
}

// trust makes clients trust these authorities.
func (d *wardrobe) trust(all ...*certtest.Authority) { d.clientRoots.Store(pool(all...)) }

func pool(all ...*certtest.Authority) *x509.CertPool {
	p := x509.NewCertPool()
	for _, a := range all {
		p.AppendCertsFromPEM(a.PEM)
	}
	return p
}

// client is the configuration of a client that connects now.
func (d *wardrobe) client() *tls.Config { return clientWith(d.clientPair.Load(), d.clientRoots.Load()) }

func clientWith(pair *tls.Certificate, roots *x509.CertPool) *tls.Config {
	return &tls.Config{
		RootCAs: roots,
		// Also one that the server does not say it wants.
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair, nil },
	}
}

// httpClient asks with new connections, which dials counts.
func (d *wardrobe) httpClient(dials *atomic.Int64) *http.Client {
	tr := &http.Transport{
		DisableKeepAlives: true,
		DialTLSContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			dials.Add(1)
			return (&tls.Dialer{Config: d.client()}).DialContext(ctx, "tcp", addr)
		},
	}
	d.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Timeout: patience, Transport: tr}
}

// tryTLS connects to a listener and waits for what it says to that: with TLS
// 1.3 a client that is refused learns so when it reads. All listeners wait for
// the client to speak first, or send HTTP/2 settings.
func tryTLS(addr string, c *tls.Config) (serial *big.Int, err error) {
	c.NextProtos = []string{"h2"}
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", addr, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	// The preface of HTTP/2 and an empty SETTINGS frame: the answer is one too.
	if _, err := conn.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")); err != nil {
		return nil, err
	}
	if _, err := conn.Read(make([]byte, 9)); err != nil {
		return nil, err
	}
	return conn.ConnectionState().PeerCertificates[0].SerialNumber, nil
}

// awaitDoors waits until each listener treats a client like this as wanted.
func (w *instance) awaitDoors(what string, client func() *tls.Config, ok func(*big.Int, error) bool) {
	w.t.Helper()
	for _, addr := range []string{w.grpc, w.http, w.admin} {
		await(w.t, what, func() error {
			serial, err := tryTLS(addr, client())
			if ok(serial, err) {
				return nil
			}
			return fmt.Errorf("%s has serial %v, error %v", addr, serial, err)
		})
	}
}

// caller asks without a pause, and must not fail.
type caller struct {
	name  string
	calls atomic.Int64
	err   atomic.Pointer[error]
	dials atomic.Int64
	keeps bool // one connection for all calls
}

// crowd are callers under way.
type crowd struct {
	t       *testing.T
	callers []*caller
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

func newCrowd(t *testing.T) *crowd {
	c := &crowd{t: t}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	t.Cleanup(func() { c.cancel(); c.wg.Wait() })
	return c
}

// add lets call be called until the crowd is stopped.
func (c *crowd) add(name string, keeps bool, make func(*caller) (call func() error)) {
	who := &caller{name: name, keeps: keeps}
	c.callers = append(c.callers, who)
	call := make(who)
	c.wg.Go(func() {
		for c.ctx.Err() == nil {
			if err := call(); err != nil {
				who.err.Store(&err)
				return
			}
			who.calls.Add(1)
		}
	})
}

func (c *crowd) check() {
	c.t.Helper()
	for _, who := range c.callers {
		if err := who.err.Load(); err != nil {
			c.t.Fatalf("%s failed after %d calls: %v", who.name, who.calls.Load(), *err)
		}
	}
}

// awaitMore waits until every caller was answered n more times: whatever it
// began before, it has ended.
func (c *crowd) awaitMore(n int64) {
	c.t.Helper()
	for _, who := range c.callers {
		goal := who.calls.Load() + n
		await(c.t, "calls of "+who.name, func() error {
			c.check()
			if who.calls.Load() < goal {
				return errors.New("too few")
			}
			return nil
		})
	}
}

// TestCertificatesRotatedUnderLoad changes the certificates of the server and
// of its clients, and the authority of both, under callers of every kind, as
// docs/tls.md says it is done. No call fails, who is connected stays so, and
// each new connection sees what is new.
func TestCertificatesRotatedUnderLoad(t *testing.T) {
	onEachEngine(t, testCertificatesRotatedUnderLoad)
}

func testCertificatesRotatedUnderLoad(t *testing.T) {
	rounds := 5
	if soak() {
		rounds = 60
	}
	d := newWardrobe(t)
	policies := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, policies, "policies:\n  - {id: all, by: [tenant], limits: [10000000/d], on_failure: closed}\n")
	// The machine of the tests stalls for longer than a store ever should.
	w := newInstance(t, "--config", policies, "--deadline", "20s", "--tls-cert", d.cert, "--tls-key", d.key, "--tls-client-ca", d.clientCA,
		"--tls-client-san", gatewayName, "--tls-admin-san", operatorName)
	w.scheme, w.web = "https", d.httpClient(new(atomic.Int64))
	w.start()
	w.awaitReady()

	c := newCrowd(t)
	addCallers(c, d, w)
	c.awaitMore(5)
	for round := range rounds {
		d.rotate(w, c, round != 1) // once without a signal
		t.Logf("round %d: serial %v", round, d.server.Serial)
	}
	metrics := w.page("/metrics")
	c.check()
	c.cancel()
	c.wg.Wait()
	c.check()
	for _, who := range c.callers {
		t.Logf("%s: %d calls, %d connections", who.name, who.calls.Load(), who.dials.Load())
		if who.keeps && who.dials.Load() != 1 {
			t.Errorf("%s connected %d times: the connection did not survive", who.name, who.dials.Load())
		}
		if !who.keeps && who.dials.Load() < who.calls.Load() {
			t.Errorf("%s made %d connections for %d calls", who.name, who.dials.Load(), who.calls.Load())
		}
	}
	for _, listener := range []string{"grpc", "http", "admin"} {
		if !strings.Contains(metrics, `weir_tls_certificate_expiry_timestamp_seconds{listener="`+listener+`"} 1.`) {
			t.Errorf("no metric says when the certificate of %s ends", listener)
		}
	}
	if log := w.err.String(); strings.Contains(log, "PRIVATE") || strings.Contains(log, "client refused") {
		t.Errorf("the log:\n%s", log)
	}
}

// rotate changes everything once, in the three steps that lose nothing.
func (d *wardrobe) rotate(w *instance, c *crowd, signal bool) {
	d.t.Helper()
	old, next := d.authority, certtest.New(d.t)
	oldPair := d.clientPair.Load()
	newPair := next.Client(d.t, gatewayName, operatorName).TLS(d.t)
	hangup := func() {
		if signal {
			w.signal(syscall.SIGHUP)
		}
	}
	wanted := func(_ *big.Int, err error) bool { return err == nil }
	refused := func(_ *big.Int, err error) bool { return err != nil }

	// Both sides trust both authorities.
	certtest.Write(d.t, d.clientCA, old.PEM, next.PEM)
	hangup()
	w.awaitDoors("the new authority", func() *tls.Config { return clientWith(&newPair, pool(old)) }, wanted)
	d.trust(old, next)
	c.awaitMore(2)

	// Both show a new certificate.
	d.server = next.Server(d.t)
	d.server.Write(d.t, d.cert, d.key)
	hangup()
	w.awaitDoors("the new certificate", d.client, func(serial *big.Int, err error) bool {
		return err == nil && serial.Cmp(d.server.Serial) == 0
	})
	d.clientPair.Store(&newPair)
	c.awaitMore(2)

	// Both forget the old authority.
	certtest.Write(d.t, d.clientCA, next.PEM)
	hangup()
	w.awaitDoors("the end of the old authority", func() *tls.Config { return clientWith(oldPair, pool(next)) }, refused)
	d.trust(next)
	c.awaitMore(2)
	d.authority = next
}
