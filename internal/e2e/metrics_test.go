package e2e

import (
	"fmt"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// metrics returns what /metrics says, by name.
func (w *instance) metrics() map[string]*dto.MetricFamily {
	w.t.Helper()
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(strings.NewReader(w.page("/metrics")))
	if err != nil {
		w.t.Fatal(err)
	}
	return families
}

// decided is how many requests an instance has decided.
func (w *instance) decided() uint64 {
	w.t.Helper()
	n := uint64(0)
	for _, m := range w.metrics()["weir_check_duration_seconds"].GetMetric() {
		n += m.GetHistogram().GetSampleCount()
	}
	return n
}

// awaitDecided waits until an instance has decided more than n requests.
func (w *instance) awaitDecided(n uint64) {
	w.t.Helper()
	await(w.t, "an instance to be asked", func() error {
		if got := w.decided(); got <= n {
			return fmt.Errorf("it has decided %d", got)
		}
		return nil
	})
}

// slower is how many of an instance's decisions took longer than some seconds,
// which must be a bound of the histogram.
func (w *instance) slower(t *testing.T, than float64) uint64 {
	t.Helper()
	n := uint64(0)
	for _, m := range w.metrics()["weir_check_duration_seconds"].GetMetric() {
		h := m.GetHistogram()
		found := false
		for _, b := range h.GetBucket() {
			if b.GetUpperBound() == than {
				n += h.GetSampleCount() - b.GetCumulativeCount()
				found = true
			}
		}
		if !found {
			t.Fatalf("weir_check_duration_seconds has no bucket of %v s: %v", than, h)
		}
	}
	return n
}
