package main

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
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
