package obs

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// samples are what a scrape gave: name{label="value",...} and its value.
type samples map[string]float64

// scrape asks as Prometheus does, over HTTP, and parses the answer.
func scrape(t testing.TB, m *Metrics) samples {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("scrape: %d %s", w.Code, w.Body)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatalf("parse the exposition: %v", err)
	}
	got := samples{}
	for name, f := range families {
		for _, s := range f.GetMetric() {
			got.add(t, name, s)
		}
	}
	if n := got[`promhttp_metric_handler_errors_total{cause="gathering"}`]; n != 0 {
		t.Fatalf("%v errors while gathering", n)
	}
	return got
}

func (got samples) add(t testing.TB, name string, s *dto.Metric) {
	t.Helper()
	put := func(name, labels string, v float64) {
		if _, twice := got[name+labels]; twice {
			t.Errorf("%s%s is there twice", name, labels)
		}
		got[name+labels] = v
	}
	l := labels(s)
	switch {
	case s.Counter != nil:
		put(name, l, s.GetCounter().GetValue())
	case s.Gauge != nil:
		put(name, l, s.GetGauge().GetValue())
	case s.Histogram != nil:
		put(name+"_count", l, float64(s.GetHistogram().GetSampleCount()))
		put(name+"_sum", l, s.GetHistogram().GetSampleSum())
		for _, b := range s.GetHistogram().GetBucket() {
			le := `le="` + strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64) + `"}`
			if l != "" {
				le = strings.TrimSuffix(l, "}") + "," + le
			} else {
				le = "{" + le
			}
			put(name+"_bucket", le, float64(b.GetCumulativeCount()))
		}
	}
}

// of returns the series of a name.
func (got samples) of(name string) samples {
	out := samples{}
	for key, v := range got {
		if key == name || strings.HasPrefix(key, name+"{") {
			out[key] = v
		}
	}
	return out
}

func (got samples) sum() float64 {
	var sum float64
	for _, v := range got {
		sum += v
	}
	return sum
}

// want compares single series.
func (got samples) want(t testing.TB, want samples) {
	t.Helper()
	for key, v := range want {
		if have, ok := got[key]; !ok || have != v {
			t.Errorf("%s is %v (exported: %v), want %v", key, have, ok, v)
		}
	}
}

// only compares all series of a name.
func (got samples) only(t testing.TB, name string, want samples) {
	t.Helper()
	got.want(t, want)
	for key, v := range got.of(name) {
		if _, ok := want[key]; !ok {
			t.Errorf("%s is exported, with %v", key, v)
		}
	}
}
