package main

import (
	"crypto/tls"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/weirlimit/weir/internal/certtest"
)

// TestListeners tries every way into every listener with every kind of client.
func TestListeners(t *testing.T) {
	p := newPKI(t)
	gateway, operator := p.ca.Client(t, "gateway.test"), p.ca.Client(t, "spiffe://test/operator")
	clients := map[string]*tls.Config{
		"plain":    nil,
		"none":     p.client(t, nil),
		"foreign":  p.client(t, certtest.New(t).Client(t, "gateway.test", "spiffe://test/operator")),
		"stranger": p.client(t, p.ca.Client(t, "stranger.test")),
		"gateway":  p.client(t, gateway),
		"operator": p.client(t, operator),
		"dated":    p.client(t, p.ca.Client(t, "gateway.test", "spiffe://test/operator")),
	}
	clients["dated"].MaxVersion = tls.VersionTLS12
	sans := []string{"--tls-client-ca", p.cc, "--tls-client-san", "gateway.test,other.test", "--tls-admin-san", "spiffe://test/operator"}
	for _, mode := range []struct {
		name string
		args []string
		want map[string]string // by client, or client and door; those not named find no door
	}{
		{"no TLS", nil, map[string]string{"plain": answered}},
		{"TLS", p.flags(), map[string]string{
			"none": answered, "foreign": answered, "stranger": answered, "gateway": answered, "operator": answered,
		}},
		{"mTLS", p.flags("--tls-client-ca", p.cc), map[string]string{
			"stranger": answered, "gateway": answered, "operator": answered,
		}},
		{"names", p.flags(sans...), map[string]string{
			"gateway grpc": answered, "gateway http": answered, "operator admin": answered,
		}},
		{"one list for all", p.flags(sans[:4]...), map[string]string{"gateway": answered}},
		{"health exempt", p.flags(append(sans, "--tls-health-exempt")...), map[string]string{
			"gateway grpc": answered, "gateway http": answered, "operator admin": answered,
			"none": denied, "none health": answered,
		}},
	} {
		for _, engine := range []string{engineStock, engineFast} {
			t.Run(mode.name+"/"+engine, func(t *testing.T) {
				s := startServe(t, append([]string{"--grpc-engine", engine}, mode.args...)...)
				for _, call := range calls {
					if engine != engineStock && call.door != doorGRPC {
						continue
					}
					for name, client := range clients {
						want := noDoor
						if v, ok := mode.want[name]; ok {
							want = v
						}
						if v, ok := mode.want[name+" "+call.door]; ok {
							want = v
						}
						if v, ok := mode.want[name+" health"]; ok && call.health {
							want = v
						}
						if got := call.make(t, s.addr(call.door), client); got != want {
							t.Errorf("%s %s by %s: %s, want %s", call.door, call.name, name, got, want)
						}
					}
				}
				if strings.Contains(mode.name, "names") && !strings.Contains(s.log.String(), "client refused") {
					t.Error("the log does not say who was refused, and why")
				}
			})
		}
	}
}

// TestPeerTLS: what envoyproxy/ratelimit's variables ask for concerns the gRPC
// listener alone, which may then speak TLS 1.2.
func TestPeerTLS(t *testing.T) {
	p := newPKI(t)
	f := &serveFlags{peer: peerSettings{
		grpcTLS: true, grpcCert: p.cert, grpcKey: p.key, grpcClientCA: p.cc, grpcClientSAN: "gateway.test",
	}}
	s := &server{flags: f, log: quiet(), metrics: newMetrics()}
	if err := s.openTLS(); err != nil {
		t.Fatal(err)
	}
	if len(s.tls) != 1 || s.tls[doorGRPC].config == nil || len(s.followed) != 1 {
		t.Fatalf("secured: %v, followed: %d", s.tls, len(s.followed))
	}
	secured := s.tls[doorGRPC]
	addr := startGRPC(t, grpc.Creds(secured.grpcCredentials()))
	dated := p.client(t, p.ca.Client(t, "gateway.test"))
	dated.MaxVersion = tls.VersionTLS12
	for name, tc := range map[string]struct {
		client *tls.Config
		want   string
	}{
		"right": {p.client(t, p.ca.Client(t, "gateway.test")), answered}, "TLS 1.2": {dated, answered},
		"none": {p.client(t, nil), noDoor}, "stranger": {p.client(t, p.ca.Client(t, "stranger.test")), noDoor},
	} {
		if got := calls[3].make(t, addr, tc.client); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}

	// A flag wins.
	f.tls = tlsFlags{cert: p.cert, key: p.key}
	s = &server{flags: f, log: quiet(), metrics: newMetrics()}
	if err := s.openTLS(); err != nil || len(s.tls) != 3 || s.tls[doorGRPC].clients {
		t.Errorf("%v, %v", err, s.tls)
	}
}

// TestReloadOfListeners: files that are wrong are told of and change nothing.
func TestReloadOfListeners(t *testing.T) { onEachEngine(t, testReloadOfListeners) }

func testReloadOfListeners(t *testing.T) {
	p := newPKI(t)
	s := startServe(t, p.flags("--tls-client-ca", p.cc)...)
	client := p.client(t, p.ca.Client(t))
	serial := func(door string) string {
		conn, err := tls.Dial("tcp", s.addr(door), client)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	all := func(want *certtest.Pair) {
		t.Helper()
		for _, door := range []string{doorGRPC, doorHTTP, doorAdmin} {
			if got := serial(door); got != want.Serial.String() {
				t.Errorf("%s has %s, want %s", door, got, want.Serial)
			}
		}
	}
	all(p.server)
	next := p.ca.Expiring(t, time.Hour)
	certtest.Write(t, p.key, next.Key)
	s.reload()
	s.log.await(t, "is not the key of the certificate in")
	all(p.server)
	certtest.Write(t, p.cert, next.Cert)
	s.reload()
	s.log.await(t, `msg="read again" what="certificates of the listeners"`)
	s.log.await(t, `msg="the certificate expires within 7 days" for="[grpc http admin]"`)
	all(next)
	if err := os.Remove(p.cc); err != nil {
		t.Fatal(err)
	}
	s.reload()
	s.log.await(t, "there is no such file")
	all(next)
	if got := calls[0].make(t, s.addr(doorGRPC), client); got != answered {
		t.Errorf("a call: %s", got)
	}
	if strings.Contains(s.log.String(), "PRIVATE") {
		t.Error("the log tells a key")
	}
}

// TestAdminByName: with TLS the admin listener may be known by any name that its
// certificate has; without, a page of that name could be anybody's.
func TestAdminByName(t *testing.T) {
	p := newPKI(t)
	ask := func(s *running, scheme string) int {
		c := p.client(t, nil)
		c.ServerName = "weir.test"
		tr := &http.Transport{TLSClientConfig: c}
		defer tr.CloseIdleConnections()
		req, err := http.NewRequest("GET", scheme+s.addr(doorAdmin)+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "weir.test:6070"
		resp, err := (&http.Client{Transport: tr}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	if got := ask(startServe(t, p.flags()...), "https://"); got != http.StatusOK {
		t.Errorf("with TLS: %d", got)
	}
	if got := ask(startServe(t), "http://"); got != http.StatusForbidden {
		t.Errorf("without: %d", got)
	}
}
