package tlsfile_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/certtest"
	"github.com/weirlimit/weir/internal/tlsfile"
)

// disk is a directory with the files of a server.
type disk struct {
	t *testing.T
	tlsfile.ServerFiles
}

func newDisk(t *testing.T) *disk {
	dir := t.TempDir()
	return &disk{t, tlsfile.ServerFiles{
		Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key"), ClientCA: filepath.Join(dir, "ca.crt"),
	}}
}

func (d *disk) write(server *certtest.Pair, clients ...[]byte) {
	d.t.Helper()
	server.Write(d.t, d.Cert, d.Key)
	certtest.Write(d.t, d.ClientCA, clients...)
}

func (d *disk) open() *tlsfile.Server {
	d.t.Helper()
	s, err := tlsfile.OpenServer(d.ServerFiles)
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// watch follows the files until the test ends. The function it returns has them
// looked at, and returns what was found.
func watch(t *testing.T, s interface {
	Watch(context.Context, func(error))
	Reload()
},
) (look func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	told, ended := make(chan error, 10), make(chan struct{})
	go func() {
		s.Watch(ctx, func(err error) { told <- err })
		close(ended)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return func() error {
		t.Helper()
		s.Reload()
		select {
		case err := <-told:
			return err
		case <-time.After(10 * time.Second):
			t.Fatal("nothing was seen")
			return nil
		}
	}
}

// echo answers lines on a listener with this configuration.
func echo(t *testing.T, c *tls.Config) (addr string) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return l.Addr().String()
}

// say connects and has one line echoed: with TLS 1.3 a client learns only then
// that it is not wanted.
func say(addr string, c *tls.Config) (*tls.Conn, error) {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", addr, c)
	if err != nil {
		return nil, err
	}
	if err := line(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func line(conn *tls.Conn) error {
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		return err
	}
	_, err := bufio.NewReader(conn).ReadString('\n')
	return err
}

func names(t *testing.T, texts ...string) tlsfile.Names {
	t.Helper()
	n, err := tlsfile.ParseNames(texts)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestServerVerifiesClients(t *testing.T) {
	ca, other := certtest.New(t), certtest.New(t)
	d := newDisk(t)
	d.write(ca.Server(t), ca.PEM)
	s := d.open()
	refused := make(chan error, 10)
	list := names(t, "gateway.test")
	strict := echo(t, s.Config(tlsfile.Rules{Names: list, Refused: func(err error) { refused <- err }}))
	any := echo(t, s.Config(tlsfile.Rules{}))
	optional := echo(t, s.Config(tlsfile.Rules{Names: list, Optional: true}))
	old := echo(t, s.Config(tlsfile.Rules{MinVersion: tls.VersionTLS12}))

	client := func(pairs ...*certtest.Pair) *tls.Config {
		c := &tls.Config{RootCAs: ca.Pool()}
		for _, p := range pairs {
			c.Certificates = append(c.Certificates, p.TLS(t))
		}
		// What is shown is what was given, whatever the server says it wants.
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if len(c.Certificates) == 0 {
				return new(tls.Certificate), nil
			}
			return &c.Certificates[0], nil
		}
		return c
	}
	right, wrong := ca.Client(t, "gateway.test"), ca.Client(t, "stranger.test")
	forged := other.Client(t, "gateway.test")
	dated := client(right)
	dated.MaxVersion = tls.VersionTLS12
	for _, tc := range []struct {
		name   string
		addr   string
		client *tls.Config
		want   bool
	}{
		{"right", strict, client(right), true},
		{"no certificate", strict, client(), false},
		{"wrong name", strict, client(wrong), false},
		{"wrong authority", strict, client(forged), false},
		{"TLS 1.2", strict, dated, false},
		{"any name", any, client(wrong), true},
		{"any name, no certificate", any, client(), false},
		{"any name, wrong authority", any, client(forged), false},
		{"optional, right", optional, client(right), true},
		{"optional, none", optional, client(), true},
		{"optional, wrong name", optional, client(wrong), false},
		{"optional, wrong authority", optional, client(forged), false},
		{"TLS 1.2 where it is allowed", old, dated, true},
	} {
		conn, err := say(tc.addr, tc.client)
		if (err == nil) != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
		if err == nil {
			_ = conn.Close()
		}
	}
	if len(refused) != 1 {
		t.Fatalf("told of %d refusals, want 1", len(refused))
	}
	if err := <-refused; !strings.Contains(err.Error(), "stranger.test") || !strings.Contains(err.Error(), "gateway.test") {
		t.Errorf("told of %v", err)
	}
}

// TestRotation: new handshakes see new files, open connections go on, and wrong
// files change nothing.
func TestRotation(t *testing.T) {
	ca, next := certtest.New(t), certtest.New(t)
	d := newDisk(t)
	first := ca.Server(t)
	d.write(first, ca.PEM)
	s := d.open()
	look := watch(t, s)
	addr := echo(t, s.Config(tlsfile.Rules{}))
	client := &tls.Config{RootCAs: ca.Pool(), Certificates: []tls.Certificate{ca.Client(t).TLS(t)}}
	open, err := say(addr, client)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Close() }()

	second := ca.Server(t)
	certtest.Write(t, d.Cert, second.Cert) // half of the pair
	if err := look(); !isInvalid(err, d.Key) {
		t.Errorf("a certificate without its key: %v", err)
	}
	sees(t, addr, client, first.Serial)
	certtest.Write(t, d.Key, second.Key)
	if err := look(); err != nil {
		t.Fatal(err)
	}
	sees(t, addr, client, second.Serial)

	certtest.Write(t, d.ClientCA, next.PEM)
	if err := look(); err != nil {
		t.Fatal(err)
	}
	if conn, err := say(addr, client); err == nil {
		_ = conn.Close()
		t.Error("a client of the authority that was taken off the list")
	}
	client.Certificates = []tls.Certificate{next.Client(t).TLS(t)}
	sees(t, addr, client, second.Serial)
	if err := line(open); err != nil {
		t.Errorf("the connection that was open: %v", err)
	}
	if err := os.Remove(d.Cert); err != nil {
		t.Fatal(err)
	}
	if err := look(); !isInvalid(err, d.Cert) {
		t.Errorf("a missing file: %v", err)
	}
	sees(t, addr, client, second.Serial)
}

func sees(t *testing.T, addr string, client *tls.Config, serial *big.Int) {
	t.Helper()
	conn, err := say(addr, client)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if got := conn.ConnectionState().PeerCertificates[0].SerialNumber; got.Cmp(serial) != 0 {
		t.Errorf("serial %v, want %v", got, serial)
	}
}

// TestNoResumption: a client that keeps sessions is verified anew each time, in
// both versions of the protocol.
func TestNoResumption(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		ca, next := certtest.New(t), certtest.New(t)
		d := newDisk(t)
		d.write(ca.Server(t), ca.PEM)
		s := d.open()
		look := watch(t, s)
		addr := echo(t, s.Config(tlsfile.Rules{MinVersion: tls.VersionTLS12}))
		client := &tls.Config{
			RootCAs: ca.Pool(), Certificates: []tls.Certificate{ca.Client(t).TLS(t)},
			MaxVersion: version, ClientSessionCache: tls.NewLRUClientSessionCache(8),
		}
		for range 2 {
			conn, err := say(addr, client)
			if err != nil {
				t.Fatal(err)
			}
			if conn.ConnectionState().DidResume {
				t.Errorf("%s: resumed", tls.VersionName(version))
			}
			_ = conn.Close()
		}
		certtest.Write(t, d.ClientCA, next.PEM)
		if err := look(); err != nil {
			t.Fatal(err)
		}
		if conn, err := say(addr, client); err == nil {
			_ = conn.Close()
			t.Errorf("%s: a session outlives its authority", tls.VersionName(version))
		}
	}
}

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
