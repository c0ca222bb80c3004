package grpclimit_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	echo "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/grpclimit"
)

// flaky is a checker that can be made to fail.
type flaky struct {
	weir.Checker
	fails atomic.Bool
}

func (f *flaky) Check(ctx context.Context, r *weir.Request, d *weir.Decision) error {
	if f.fails.Load() {
		return &weir.Error{Code: weir.CodeRefused}
	}
	return f.Checker.Check(ctx, r, d)
}

func TestPeerIP(t *testing.T) {
	for _, tc := range []struct {
		addr net.Addr
		want string // empty: refused
	}{
		{&net.TCPAddr{IP: net.ParseIP("192.0.2.7"), Port: 9}, "192.0.2.7"},
		{&net.TCPAddr{IP: net.ParseIP("::ffff:192.0.2.7"), Port: 9}, "192.0.2.7"},
		{&net.TCPAddr{IP: net.ParseIP("2001:db8:1:2:3:4:5:6"), Port: 9}, "2001:db8:1:2::/64"},
		{&net.TCPAddr{IP: net.ParseIP("fe80::1"), Zone: "eth0"}, "fe80::/64"},
		{textAddr("192.0.2.7:9"), "192.0.2.7"},
		{&net.TCPAddr{}, ""},
		{&net.UnixAddr{Name: "/run/s.sock", Net: "unix"}, ""},
		{nil, ""},
	} {
		ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: tc.addr})
		got, err := grpclimit.PeerIP()(ctx, &grpclimit.Call{}, nil)
		if (err == nil) != (tc.want != "") || err == nil && (len(got) != 1 || got[0] != weir.Pair{Name: "ip", Value: tc.want}) {
			t.Errorf("%v: %v, %v", tc.addr, got, err)
		}
	}
	if _, err := grpclimit.PeerIP()(t.Context(), &grpclimit.Call{}, nil); err == nil {
		t.Error("nobody's address")
	}
}

type textAddr string

func (textAddr) Network() string  { return "test" }
func (a textAddr) String() string { return string(a) }

func TestMetadata(t *testing.T) {
	for name, tc := range map[string]struct {
		md   metadata.MD
		want string
		bad  bool
	}{
		"there":   {metadata.Pairs("x-tenant", "acme"), "acme", false},
		"not":     {metadata.Pairs("x-other", "acme"), "", false},
		"empty":   {metadata.Pairs("x-tenant", ""), "", false},
		"twice":   {metadata.Pairs("x-tenant", "a", "x-tenant", "b"), "", true},
		"long":    {metadata.Pairs("x-tenant", strings.Repeat("x", 257)), strings.Repeat("x", 257), false},
		"no text": {metadata.Pairs("x-tenant", "\xff"), "", true},
	} {
		got, err := grpclimit.Metadata("tenant", "X-Tenant")(metadata.NewIncomingContext(t.Context(), tc.md), &grpclimit.Call{}, nil)
		if (err != nil) != tc.bad || (len(got) == 1) != (tc.want != "") || len(got) == 1 && got[0] != (weir.Pair{Name: "tenant", Value: tc.want}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestLongValues are bounded, and told apart.
func TestLongValues(t *testing.T) {
	c := protect(t, &service{}, decider(t, "policies:\n  - {id: p, match: {tenant: x*}, by: [tenant], limits: [1/h], on_failure: open}\n"), byTenant)
	long := strings.Repeat("x", 3000)
	for _, tenant := range []string{long + "a" + long, long + "b" + long} {
		if got := call(as(t, tenant), c, &echo.SimpleRequest{}, 2); !slices.Equal(got, []codes.Code{ok, tooMany}) {
			t.Errorf("got %v", got)
		}
	}
	seen := 0
	l := grpclimit.New(checkFunc(func(r *weir.Request) { seen = len(r.Descriptors[0].Pairs[0].Value) }),
		grpclimit.WithDimensions(grpclimit.Constant("tenant", long+long)), grpclimit.WithoutHeaders())
	if _, err := l.Unary(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: unaryMethod}, func(context.Context, any) (any, error) { return nil, nil }); err != nil || seen == 0 || seen > grpclimit.MaxValueBytes {
		t.Errorf("%d bytes, %v", seen, err)
	}
}

// checkFunc is a checker that allows what it was shown.
type checkFunc func(*weir.Request)

func (f checkFunc) Check(_ context.Context, r *weir.Request, d *weir.Decision) error {
	f(r)
	d.Verdict = weir.Allow
	return nil
}

// TestRouteOfOnesOwn: a dimension named route takes the place of the method.
func TestRouteOfOnesOwn(t *testing.T) {
	c := protect(t, &service{}, decider(t, "policies:\n  - {id: p, match: {route: checkout}, by: [route], limits: [1/h], on_failure: open}\n"),
		grpclimit.WithDimensions(grpclimit.Constant("route", "checkout")))
	if got := call(t.Context(), c, &echo.SimpleRequest{}, 2); got[0] != ok || got[1] != tooMany {
		t.Errorf("got %v", got)
	}
}

// authority issues client certificates.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{key, cert}
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

func (a *authority) issue(t *testing.T, names func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	names(tmpl)
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// TestPeerSAN: who is charged is who the certificate names, whatever the
// metadata says; who has no verified certificate is refused.
func TestPeerSAN(t *testing.T) {
	a := newAuthority(t)
	spiffe, _ := url.Parse("spiffe://shop.example/cart")
	server := a.issue(t, func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)} })
	l := grpclimit.New(decider(t, "policies:\n  - {id: p, by: [tenant], limits: [1/h], on_failure: open}\n"), grpclimit.WithDimensions(grpclimit.PeerSAN("tenant")))
	conn := serve(t, &service{}, l, grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{server}, ClientCAs: a.pool(), ClientAuth: tls.VerifyClientCertIfGiven, MinVersion: tls.VersionTLS13,
	})))
	for _, tc := range []struct {
		name  string
		certs []tls.Certificate
		want  []codes.Code
	}{
		{"a URI", []tls.Certificate{a.issue(t, func(c *x509.Certificate) { c.URIs = []*url.URL{spiffe}; c.DNSNames = []string{"x"} })}, []codes.Code{ok, tooMany}},
		{"the same, another certificate", []tls.Certificate{a.issue(t, func(c *x509.Certificate) { c.URIs = []*url.URL{spiffe} })}, []codes.Code{tooMany}},
		{"a name", []tls.Certificate{a.issue(t, func(c *x509.Certificate) { c.DNSNames = []string{"cart.shop.example"} })}, []codes.Code{ok, tooMany}},
		{"an address", []tls.Certificate{a.issue(t, func(c *x509.Certificate) { c.EmailAddresses = []string{"ann@shop.example"} })}, []codes.Code{ok, tooMany}},
		{"no name", []tls.Certificate{a.issue(t, func(c *x509.Certificate) {})}, []codes.Code{codes.InvalidArgument}},
		{"no certificate", nil, []codes.Code{codes.InvalidArgument}},
		{"of another authority", []tls.Certificate{newAuthority(t).issue(t, func(c *x509.Certificate) { c.DNSNames = []string{"new.shop.example"} })}, []codes.Code{codes.Unavailable}},
	} {
		config := &tls.Config{RootCAs: a.pool(), Certificates: tc.certs, MinVersion: tls.VersionTLS13}
		conn, err := grpc.NewClient(conn.Target(), grpc.WithTransportCredentials(credentials.NewTLS(config)))
		if err != nil {
			t.Fatal(err)
		}
		forged := metadata.AppendToOutgoingContext(t.Context(), "tenant", "victim", "x-tenant", "victim")
		for i, want := range tc.want {
			if _, err := echo.NewTestServiceClient(conn).UnaryCall(forged, &echo.SimpleRequest{}); status.Code(err) != want {
				t.Errorf("%s, call %d: %v, want %v", tc.name, i, err, want)
			}
		}
		_ = conn.Close()
	}
}
