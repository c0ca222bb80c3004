package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

// modePolicies has a policy for each way to fail, told apart by a dimension.
const modePolicies = `
policies:
  - {id: reads, by: [reader], limits: [8/h], on_failure: open}
  - {id: logins, by: [user], limits: [8/h], on_failure: local}
  - {id: payments, by: [payer], limits: [8/h], on_failure: closed}
  - {id: addresses, by: [ip], limits: [8/h], on_failure: closed}
`

// TestModesWithoutRedis: with nobody at Redis's address, a server serves within
// 2 s of its start and answers every policy in its own way, at every door.
func TestModesWithoutRedis(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testModesWithoutRedis)
}

func testModesWithoutRedis(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, path, modePolicies)
	w := newInstance(t, "--config", path, "--redis", holdPort(t))
	began := time.Now()
	w.start()
	w.awaitReady()
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("ready after %v", took)
	}
	if got := w.page("/livez"); got != "ok\n" {
		t.Errorf("livez: %q", got)
	}
	for _, c := range []struct {
		dimension string
		passes    int
		status    int // of the others
		source    string
	}{
		{"reader", 8, http.StatusTooManyRequests, "backstop"}, // the whole limit: it is alone
		{"user", 2, http.StatusTooManyRequests, "backstop"},   // a quarter
		{"payer", 0, http.StatusServiceUnavailable, "backstop"},
	} {
		for i := range 12 {
			resp, body := w.check(c.dimension)
			want := c.status
			if i < c.passes {
				want = http.StatusOK
			}
			if resp.StatusCode != want || want == http.StatusOK && !strings.Contains(body, `"source":"backstop"`) {
				t.Errorf("%s, request %d: %d %s", c.dimension, i+1, resp.StatusCode, body)
			}
			retry, err := strconv.Atoi(resp.Header.Get("Retry-After"))
			if want != http.StatusOK && (err != nil || retry < 1) {
				t.Errorf("%s, request %d: retry after %q", c.dimension, i+1, resp.Header.Get("Retry-After"))
			}
		}
	}
	w.awaitDegraded(true)
	w.closedAtOtherDoors()
	if text := w.page("/metrics"); !strings.Contains(text, `weir_degraded_total{domain="default",reason=`) || !strings.Contains(text, "\nweir_backstop_keys 2\n") {
		t.Error("the metrics do not tell it")
	}
	// The operator's switch needs no Redis either.
	runWeir(t, "switch", "on", "--node", w.admin, "--policy", "payments", "--who", "ann", "--why", "Redis is away")
	if resp, body := w.check("payer"); resp.StatusCode != http.StatusOK || !strings.Contains(body, `"reason":"forced"`) {
		t.Errorf("forced: %d %s", resp.StatusCode, body)
	}
	if text := w.page("/readyz"); !strings.Contains(text, "switch: let through past its limits: default.payments until ") || !strings.Contains(text, "store: ") {
		t.Errorf("readyz: %s", text)
	}
	if text := w.page("/metrics"); !strings.Contains(text, `weir_switch_forced{scope="policy"} 1`) {
		t.Error("the metrics do not tell it")
	}
	w.stop()
}

// closedAtOtherDoors asks for a policy that fails closed, elsewhere than at
// /v1/check.
func (w *instance) closedAtOtherDoors() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if resp := w.auth("", "X-Forwarded-For", "203.0.113.7"); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		w.t.Errorf("/v1/auth: %d %v", resp.StatusCode, resp.Header)
	}
	conn := dial(w.t, w.grpc)
	out, err := weirv1.NewLimiterClient(conn).Check(ctx, &weirv1.CheckRequest{Domain: "default", Dimensions: []*weirv1.Dimension{{Name: "payer", Value: "acme"}}})
	if err != nil || out.GetAllowed() || out.GetReason() != weirv1.Reason_REASON_DEGRADED || out.GetRetryAfterUs() != 1_000_000 {
		w.t.Errorf("native: %v %v", out, err)
	}
	over, err := rlsv3.NewRateLimitServiceClient(conn).ShouldRateLimit(ctx, &rlsv3.RateLimitRequest{
		Domain: "default", Descriptors: []*common.RateLimitDescriptor{{Entries: []*common.RateLimitDescriptor_Entry{{Key: "payer", Value: "acme"}}}},
	})
	if err != nil || over.GetOverallCode() != rlsv3.RateLimitResponse_OVER_LIMIT {
		w.t.Fatalf("envoy: %v %v", over, err)
	}
	if h := over.GetResponseHeadersToAdd(); len(h) != 1 || h[0].GetKey() != "retry-after" || h[0].GetValue() != "1" && h[0].GetValue() != "2" {
		w.t.Errorf("envoy: headers %v", h)
	}
}

// check asks over HTTP.
func (w *instance) check(dimension string) (*http.Response, string) {
	w.t.Helper()
	resp, err := plain.Post("http://"+w.http+"/v1/check", "application/json", strings.NewReader(fmt.Sprintf(`{"dimensions": {%q: "acme"}}`, dimension)))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp, string(body)
}
