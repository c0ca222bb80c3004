package e2e

import (
	"fmt"
	"path/filepath"
	"testing"

	dto "github.com/prometheus/client_model/go"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir/internal/redistest"
)

// TestDenyCache: what Redis said is used up is denied without it, and counted as
// that; with --deny-cache 0 it is not, and without Redis there is nothing to say.
func TestDenyCache(t *testing.T) {
	t.Parallel()
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

// gauge is the value of a metric without labels, or -1.
func gauge(f *dto.MetricFamily) float64 {
	if len(f.GetMetric()) != 1 {
		return -1
	}
	return f.GetMetric()[0].GetGauge().GetValue()
}
