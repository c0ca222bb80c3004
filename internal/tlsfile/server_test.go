package tlsfile_test

import (
	"crypto/tls"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/weirlimit/weir/internal/certtest"
	"github.com/weirlimit/weir/internal/tlsfile"
)

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
