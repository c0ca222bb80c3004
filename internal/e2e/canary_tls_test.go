package e2e

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	descriptorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

// TestNoSecretIsToldOverTLS is TestNoSecretIsTold for what needs TLS or gRPC: the
// key of a certificate, the secret that tokens are signed with, calls and their
// errors over gRPC, the admin service, and weir check.
func TestNoSecretIsToldOverTLS(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testNoSecretIsToldOverTLS)
}

func testNoSecretIsToldOverTLS(t *testing.T) {
	d, dir := newWardrobe(t), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	key, err := os.ReadFile(d.key)
	if err != nil {
		t.Fatal(err)
	}
	c := canaries{
		"key of the certificate": strings.Split(string(key), "\n")[1], "secret of tokens": "canary-hmac-secret-that-is-long-enough",
		"password of sentinels": "canary-sentinel-password", "address": "203.0.113.78", "user": "canary-user-4712",
	}
	c["token"] = signedHS256(c["secret of tokens"], c["user"])
	c["signature of a token"] = c["token"][strings.LastIndexByte(c["token"], '.')+1:]
	write(t, path("secret"), c["secret of tokens"])
	write(t, path("identity.yaml"), "jwt: {issuer: idp, audience: api, secret_file: secret, algorithms: [HS256], tenant_claim: org}\n")
	write(t, path("policies.yaml"), `
policies:
  - {id: by-user, by: [tenant, user], limits: [3/h], on_failure: closed}
  - {id: by-ip, by: [ip], limits: [100/h], on_failure: closed}
`)
	write(t, path("envoy.yaml"), "domain: edge\ndescriptors:\n  - {key: user, detailed_metric: true, value_to_metric: true, rate_limit: {unit: hour, requests_per_unit: 1}}\n")
	w := newInstance(t, "--config", path("policies.yaml"), "--config", path("envoy.yaml"), "--identity", path("identity.yaml"), "--log-level", "debug",
		"--tls-cert", d.cert, "--tls-key", d.key, "--tls-client-ca", d.clientCA, "--tls-client-san", gatewayName, "--tls-admin-san", operatorName)
	w.scheme, w.web = "https", d.httpClient(new(atomic.Int64))
	w.env = []string{"WEIR_REDIS_SENTINEL_PASSWORD=" + c["password of sentinels"]}
	w.start()
	w.awaitReady()

	ask := func(header ...string) string {
		r, err := http.NewRequest(http.MethodGet, "https://"+w.http+"/v1/auth", nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Add(header[i], header[i+1])
		}
		resp, err := w.web.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return text(t, resp)
	}
	answer := ask("Authorization", "Bearer "+c["token"], "X-Forwarded-For", c["address"])
	if !strings.Contains(answer, "by-user") {
		t.Errorf("the token was not believed: %s", answer)
	}
	c.find(t, "/v1/auth", answer)
	c.find(t, "/v1/auth", ask("Authorization", "Bearer "+c["token"]+"x"))

	conn, err := grpc.NewClient(w.grpc, grpc.WithTransportCredentials(credentials.NewTLS(d.client())))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	adminConn, err := grpc.NewClient(w.admin, grpc.WithTransportCredentials(credentials.NewTLS(d.client())))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = adminConn.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dims := []*weirv1.Dimension{{Name: "tenant", Value: "acme"}, {Name: "user", Value: c["user"]}, {Name: "ip", Value: c["address"]}}
	limiter, operator := weirv1.NewLimiterClient(conn), weirv1.NewAdminClient(adminConn)
	for name, call := range map[string]func() (any, error){
		"Check": func() (any, error) {
			return limiter.Check(ctx, &weirv1.CheckRequest{Domain: "default", Dimensions: dims, WantCharges: true})
		},
		"a wrong Check": func() (any, error) {
			return limiter.Check(ctx, &weirv1.CheckRequest{Domain: "default", Dimensions: append(dims, dims...)})
		},
		"Release": func() (any, error) {
			return limiter.Release(ctx, &weirv1.ReleaseRequest{Domain: "default", Dimensions: dims, RequestId: c["token"]})
		},
		"GetUsage": func() (any, error) {
			return operator.GetUsage(ctx, &weirv1.GetUsageRequest{Domain: "default", Dimensions: dims})
		},
		"ResetKey": func() (any, error) {
			return operator.ResetKey(ctx, &weirv1.ResetKeyRequest{Domain: "default", Dimensions: dims})
		},
		"Envoy's service": func() (any, error) {
			return rlsv3.NewRateLimitServiceClient(conn).ShouldRateLimit(ctx, &rlsv3.RateLimitRequest{Domain: "edge", Descriptors: []*descriptorv3.RateLimitDescriptor{{
				Entries: []*descriptorv3.RateLimitDescriptor_Entry{{Key: "user", Value: c["user"]}},
			}}})
		},
	} {
		out, err := call()
		c.find(t, name, fmt.Sprint(out, err))
	}
	w.told(c)

	client := d.authority.Client(t, gatewayName)
	client.Write(t, path("client.crt"), path("client.key"))
	for i, args := range [][]string{
		{"check", "--addr", w.grpc, "--tls-ca", d.clientCA, "--tls-cert", path("client.crt"), "--tls-key", path("client.key"), "--domain", "default", "--dimension", "tenant=acme"},
		{"check", "--addr", w.grpc, "--tls-ca", d.clientCA, "--tls-cert", path("client.crt"), "--tls-key", d.key, "--domain", "default", "--dimension", "tenant=acme"},
		{"serve", "--tls-cert", d.key, "--tls-key", d.key},
		{"serve", "--tls-cert", d.cert, "--tls-key", path("client.key")},
		append([]string{"config", "print", "--sources"}, w.args...),
	} {
		cmd := exec.Command(binary, args...)
		cmd.Env = w.cmd.Environ()
		out, err := cmd.CombinedOutput() // all fail but the first and the last
		if (err == nil) != (i == 0 || i == 4) {
			t.Errorf("weir %v: %v\n%s", args, err, out)
		}
		c.find(t, "weir "+args[0], string(out))
	}
}

// signedHS256 is a token that is signed with a secret.
func signedHS256(secret, user string) string {
	enc := base64.RawURLEncoding
	text := enc.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." + enc.EncodeToString(fmt.Appendf(nil,
		`{"iss":"idp","aud":"api","sub":%q,"org":"acme","exp":%d}`, user, time.Now().Add(time.Hour).Unix()))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return text + "." + enc.EncodeToString(mac.Sum(nil))
}
