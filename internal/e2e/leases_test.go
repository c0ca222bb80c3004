package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/weirlimit/weir/internal/redistest"
)

// TestLeases: a counter that is asked for often is leased, and all that is
// published of it can be seen.
func TestLeases(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testLeases)
}

func testLeases(t *testing.T) {
	redis := redistest.Start(t)
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, path, "policies:\n  - {id: tenants, by: [tenant], limits: [1000000/m], lease: auto, on_failure: open}\n"+
		"  - {id: addresses, by: [ip], limits: [1000000/m], lease: auto, on_failure: open}\n")
	w := serve(t, "--config", path, "--redis", redis.Addr(), "--deadline", "5s", "--hot-key-rate", "5")
	await(t, "units spent from a lease", func() error {
		for range 20 {
			w.post("/v1/check", `{"dimensions": {"tenant": "whale"}}`)
		}
		if n := value(w.metrics()["weir_lease_tokens_total"], "spent"); n == 0 {
			return fmt.Errorf("none of %v", w.metrics()["weir_lease_tokens_total"])
		}
		return nil
	})
	m := w.metrics()
	taken, share := value(m["weir_lease_tokens_total"], "taken"), value(m["weir_lease_overadmission_share"], "")
	if taken < value(m["weir_lease_tokens_total"], "spent") || share > 0.05 || value(m["weir_leases_total"], "full") == 0 || value(m["weir_hot_keys"], "") != 1 {
		t.Errorf("taken %v, share %v, %v, %v", taken, share, m["weir_leases_total"], m["weir_hot_keys"])
	}
	// A private value is hot under its pseudonym.
	await(t, "a hot address", func() error {
		for range 20 {
			w.post("/v1/check", `{"dimensions": {"ip": "203.0.113.77"}}`)
		}
		if page := w.page("/hotkeys"); !strings.Contains(page, "9:addresses") {
			return fmt.Errorf("hot keys: %q", page)
		}
		return nil
	})
	if page := w.page("/hotkeys"); !strings.Contains(page, "{whale}") || !strings.Contains(page, " hot, leased by ") || strings.Contains(page, "203.0.113") {
		t.Errorf("hot keys: %q", page)
	}
}

// value is that of the series with this label, or of the only one.
func value(f *dto.MetricFamily, label string) float64 {
	for _, m := range f.GetMetric() {
		if label == "" || m.GetLabel()[0].GetValue() == label {
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return 0
}
