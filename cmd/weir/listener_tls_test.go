package main

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpccreds "google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
	"github.com/weirlimit/weir/internal/certtest"
)

// What becomes of a call.
const (
	answered = "answered"
	denied   = "denied"  // 403 or Unauthenticated
	noDoor   = "no door" // there was no connection
)

// dialGRPC connects; nil is without TLS.
func dialGRPC(t *testing.T, addr string, c *tls.Config) *grpc.ClientConn {
	t.Helper()
	creds := insecure.NewCredentials()
	if c != nil {
		creds = grpccreds.NewTLS(c)
	}
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(creds), grpc.WithNoProxy())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// callGRPC makes a call and says what became of it.
func callGRPC(t *testing.T, addr string, c *tls.Config, call func(context.Context, *grpc.ClientConn) error) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := call(ctx, dialGRPC(t, addr, c))
	switch status.Code(err) {
	case codes.OK:
		return answered
	case codes.Unauthenticated:
		return denied
	case codes.Unavailable:
		return noDoor
	}
	return err.Error()
}

// callHTTP asks for a page and says what became of it.
func callHTTP(t *testing.T, addr string, c *tls.Config, method, path, body string, http2 bool) string {
	t.Helper()
	scheme := "https://"
	if c == nil {
		scheme = "http://"
	}
	tr := &http.Transport{TLSClientConfig: c.Clone(), ForceAttemptHTTP2: http2}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr, Timeout: 20 * time.Second}
	req, err := http.NewRequest(method, scheme+addr+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return noDoor
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	switch {
	case http2 != (resp.ProtoMajor == 2):
		return resp.Proto
	case resp.StatusCode == http.StatusOK:
		return answered
	case resp.StatusCode == http.StatusForbidden && resp.Header.Get("Content-Type") == "application/problem+json":
		return denied
	case c == nil && resp.StatusCode == http.StatusBadRequest && strings.Contains(string(text), "HTTPS"):
		return noDoor // net/http's own word to who forgot the s
	}
	return resp.Status
}

const checkBody = `{"dimensions": {"tenant": "acme"}, "mode": "peek"}`

// calls are the ways into each listener: for its purpose, and for health.
var calls = []struct {
	door   string
	name   string
	health bool
	make   func(t *testing.T, addr string, c *tls.Config) string
}{
	{doorGRPC, "check", false, func(t *testing.T, addr string, c *tls.Config) string {
		return callGRPC(t, addr, c, func(ctx context.Context, conn *grpc.ClientConn) error {
			_, err := weirv1.NewLimiterClient(conn).Check(ctx, &weirv1.CheckRequest{Domain: "default"})
			return err
		})
	}},
	{doorGRPC, "stream", false, func(t *testing.T, addr string, c *tls.Config) string {
		return callGRPC(t, addr, c, func(ctx context.Context, conn *grpc.ClientConn) error {
			s, err := weirv1.NewLimiterClient(conn).CheckBatch(ctx)
			if err != nil {
				return err
			}
			_ = s.Send(&weirv1.CheckBatchRequest{Checks: []*weirv1.CheckRequest{{Domain: "default"}}})
			_, err = s.Recv()
			return err
		})
	}},
	{doorGRPC, "reflection", false, func(t *testing.T, addr string, c *tls.Config) string {
		return callGRPC(t, addr, c, func(ctx context.Context, conn *grpc.ClientConn) error {
			s, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
			if err != nil {
				return err
			}
			_ = s.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
			_, err = s.Recv()
			return err
		})
	}},
	{doorGRPC, "health", true, func(t *testing.T, addr string, c *tls.Config) string {
		return callGRPC(t, addr, c, func(ctx context.Context, conn *grpc.ClientConn) error {
			_, err := healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{})
			return err
		})
	}},
	{doorHTTP, "check", false, func(t *testing.T, addr string, c *tls.Config) string {
		return callHTTP(t, addr, c, "POST", "/v1/check", checkBody, false)
	}},
	{doorHTTP, "check over HTTP/2", false, func(t *testing.T, addr string, c *tls.Config) string {
		return callHTTP(t, addr, c, "POST", "/v1/check", checkBody, c != nil)
	}},
	{doorHTTP, "health", true, func(t *testing.T, addr string, c *tls.Config) string {
		return callHTTP(t, addr, c, "GET", "/healthcheck", "", false)
	}},
	{doorAdmin, "metrics", false, func(t *testing.T, addr string, c *tls.Config) string {
		return callHTTP(t, addr, c, "GET", "/metrics", "", false)
	}},
	{doorAdmin, "profiles", false, func(t *testing.T, addr string, c *tls.Config) string {
		return callHTTP(t, addr, c, "GET", "/debug/pprof/", "", false)
	}},
	{doorAdmin, "service", false, func(t *testing.T, addr string, c *tls.Config) string {
		return callGRPC(t, addr, c, func(ctx context.Context, conn *grpc.ClientConn) error {
			_, err := weirv1.NewAdminClient(conn).GetUsage(ctx, &weirv1.GetUsageRequest{
				Domain: "default", Dimensions: []*weirv1.Dimension{{Name: "tenant", Value: "acme"}},
			})
			return err
		})
	}},
	{doorAdmin, "livez", true, func(t *testing.T, addr string, c *tls.Config) string {
		return callHTTP(t, addr, c, "GET", "/livez", "", false)
	}},
	{doorAdmin, "readyz", true, func(t *testing.T, addr string, c *tls.Config) string {
		return callHTTP(t, addr, c, "GET", "/readyz", "", c != nil)
	}},
	{doorAdmin, "healthcheck", true, func(t *testing.T, addr string, c *tls.Config) string {
		return callHTTP(t, addr, c, "GET", "/healthcheck", "", false)
	}},
}

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
		t.Run(mode.name, func(t *testing.T) {
			s := startServe(t, mode.args...)
			for _, call := range calls {
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
func TestReloadOfListeners(t *testing.T) {
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
