package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	dto "github.com/prometheus/client_model/go"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir/internal/redistest"
)

// TestDenyCache: what Redis said is used up is denied without it, and counted as
// that; with --deny-cache 0 it is not, and without Redis there is nothing to say.
func TestDenyCache(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testDenyCache)
}

func testDenyCache(t *testing.T) {
	redis := redistest.Start(t)
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, path, fmt.Sprintf(closedPolicy, 1, "open"))
	args := []string{"--config", path, "--redis", redis.Addr(), "--deadline", "5s"}
	w := serve(t, args...)
	conn := dial(t, w.grpc)
	if d := ask(t, conn); !d.GetAllowed() {
		t.Fatalf("%v", d)
	}
	await(t, "an answer from the deny cache", func() error {
		d := ask(t, conn)
		if d.GetAllowed() || d.GetRetryAfterUs() <= 0 {
			t.Fatalf("%v", d)
		}
		if d.GetSource() != weirv1.Source_SOURCE_DENY_CACHE {
			return fmt.Errorf("answered from %v", d.GetSource())
		}
		return nil
	})
	if n := gauge(w.metrics()["weir_deny_cache_records"]); n != 1 {
		t.Errorf("weir_deny_cache_records is %v", n)
	}
	off := serve(t, append(args, "--deny-cache", "0")...)
	conn = dial(t, off.grpc)
	for range 5 {
		if d := ask(t, conn); d.GetAllowed() || d.GetSource() != weirv1.Source_SOURCE_STORE {
			t.Errorf("without the cache: %v", d)
		}
	}
}

// TestDenyCacheTellsOfEveryDescriptor: Envoy makes its fields from the statuses,
// so an answer without Redis has one of every descriptor, with what is left.
func TestDenyCacheTellsOfEveryDescriptor(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testDenyCacheTellsOfEveryDescriptor)
}

func testDenyCacheTellsOfEveryDescriptor(t *testing.T) {
	redis := redistest.Start(t)
	path := filepath.Join(t.TempDir(), "envoy.yaml")
	write(t, path, "domain: gateway\ndescriptors:\n"+
		"  - {key: tenant, rate_limit: {unit: hour, requests_per_unit: 1}}\n"+
		"  - {key: path, rate_limit: {unit: hour, requests_per_unit: 10}}\n")
	w := serve(t, "--config", path, "--redis", redis.Addr(), "--deadline", "5s")
	gateway := rlsv3.NewRateLimitServiceClient(dial(t, w.grpc))
	should := func(keys ...string) *rlsv3.RateLimitResponse {
		in := &rlsv3.RateLimitRequest{Domain: "gateway"}
		for _, key := range keys {
			in.Descriptors = append(in.Descriptors, &common.RateLimitDescriptor{
				Entries: []*common.RateLimitDescriptor_Entry{{Key: key, Value: "a"}},
			})
		}
		out, err := gateway.ShouldRateLimit(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	should("path")
	should("path")
	should("tenant")
	await(t, "an answer from the deny cache", func() error {
		out := should("tenant", "path")
		s := out.GetStatuses()
		if out.GetOverallCode() != rlsv3.RateLimitResponse_OVER_LIMIT || len(s) != 2 ||
			s[0].GetCode() != rlsv3.RateLimitResponse_OVER_LIMIT || s[0].GetCurrentLimit().GetRequestsPerUnit() != 1 || s[0].GetDurationUntilReset().AsDuration() <= 0 ||
			s[1].GetCode() != rlsv3.RateLimitResponse_OK || s[1].GetCurrentLimit().GetRequestsPerUnit() != 10 || s[1].GetLimitRemaining() != 8 {
			t.Fatalf("%v", out)
		}
		for _, m := range w.metrics()["weir_decisions_total"].GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "source" && l.GetValue() == "deny_cache" && m.GetCounter().GetValue() >= 3 {
					return nil
				}
			}
		}
		return errors.New("none yet")
	})
}

// gauge is the value of a metric without labels, or -1.
func gauge(f *dto.MetricFamily) float64 {
	if len(f.GetMetric()) != 1 {
		return -1
	}
	return f.GetMetric()[0].GetGauge().GetValue()
}
