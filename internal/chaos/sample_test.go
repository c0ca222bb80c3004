package chaos

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// sample is what /metrics says at an instant. Counters only grow; the
// difference of two samples is a stretch of time.
type sample struct {
	at          time.Time
	sources     map[string]float64 // decisions by where they were made
	degraded    map[string]float64 // by reason
	storeErrors map[string]float64 // by reason
	storeCalls  float64
	losses      map[string]float64
	buckets     map[float64]float64 // decisions at most so long, in seconds
	stored      map[float64]float64 // the same of those that the store made
	breakers    map[string]float64  // by shard; see breakerName
	turns       map[string]float64  // changes of breakers, by the state they took
	leases      map[string]float64  // units taken ahead, by what became of them
	leaseHeld   float64             // units
	leaseBound  float64             // units that may be admitted beyond a limit, as published
	goroutines  float64
	memory      float64 // resident bytes
	files       float64 // open ones, connections among them
}

// parseSample reads the text format.
func parseSample(at time.Time, text string) (sample, error) {
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return sample{}, fmt.Errorf("parse metrics: %w", err)
	}
	s := sample{
		at:          at,
		sources:     map[string]float64{},
		degraded:    sumBy(families["weir_degraded_total"], "reason"),
		storeErrors: sumBy(families["weir_store_errors_total"], "reason"),
		losses:      sumBy(families["weir_losses_total"], "kind"),
		breakers:    sumBy(families["weir_breaker_state"], "shard"),
		turns:       sumBy(families["weir_breaker_transitions_total"], "state"),
		buckets:     map[float64]float64{},
		stored:      map[float64]float64{},
		leases:      sumBy(families["weir_lease_tokens_total"], "what"),
		leaseHeld:   total(sumBy(families["weir_lease_tokens_held"], "")),
		leaseBound:  total(sumBy(families["weir_lease_overadmission_bound"], "")),
		storeCalls:  total(sumBy(families["weir_store_calls_total"], "")),
		goroutines:  total(sumBy(families["go_goroutines"], "")),
		memory:      total(sumBy(families["process_resident_memory_bytes"], "")),
		files:       total(sumBy(families["process_open_fds"], "")),
	}
	for _, m := range families["weir_check_duration_seconds"].GetMetric() {
		h := m.GetHistogram()
		s.sources[label(m, "source")] += float64(h.GetSampleCount())
		for _, b := range h.GetBucket() {
			if !math.IsInf(b.GetUpperBound(), 1) {
				s.buckets[b.GetUpperBound()] += float64(b.GetCumulativeCount())
			}
		}
		s.buckets[math.Inf(1)] += float64(h.GetSampleCount())
		if label(m, "source") == "store" {
			for _, b := range h.GetBucket() {
				s.stored[b.GetUpperBound()] += float64(b.GetCumulativeCount())
			}
			s.stored[math.Inf(1)] = float64(h.GetSampleCount())
		}
	}
	return s, nil
}

// sumBy adds up a family by one label.
func sumBy(f *dto.MetricFamily, name string) map[string]float64 {
	out := map[string]float64{}
	for _, m := range f.GetMetric() {
		out[label(m, name)] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	return out
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

func total[K comparable](m map[K]float64) (sum float64) {
	for _, v := range m {
		sum += v
	}
	return sum
}

// less is what happened since a sample before.
func (s sample) less(b sample) sample {
	s.sources = minus(s.sources, b.sources)
	s.degraded = minus(s.degraded, b.degraded)
	s.storeErrors = minus(s.storeErrors, b.storeErrors)
	s.losses = minus(s.losses, b.losses)
	s.turns = minus(s.turns, b.turns)
	s.buckets = minus(s.buckets, b.buckets)
	s.stored = minus(s.stored, b.stored)
	s.storeCalls -= b.storeCalls
	return s
}

// minus leaves out what is 0.
func minus[K comparable](a, b map[K]float64) map[K]float64 {
	out := map[K]float64{}
	for k, v := range a {
		if v -= b[k]; v != 0 {
			out[k] = v
		}
	}
	return out
}

// slower is the share of decisions that took longer than d, which must be one of
// the bounds.
func (s sample) slower(d time.Duration) (float64, error) {
	all := s.buckets[math.Inf(1)]
	if all == 0 {
		return 0, fmt.Errorf("no decision to judge")
	}
	for bound, n := range s.buckets {
		if math.Abs(bound-d.Seconds()) < 1e-9 {
			return (all - n) / all, nil
		}
	}
	return 0, fmt.Errorf("no bound of %v", d)
}

// quantile is the bound that the share q of decisions did not exceed: never less
// than the truth.
func (s sample) quantile(q float64) time.Duration {
	all := s.buckets[math.Inf(1)]
	bounds := make([]float64, 0, len(s.buckets))
	for b := range s.buckets {
		bounds = append(bounds, b)
	}
	slices.Sort(bounds)
	for _, b := range bounds {
		if s.buckets[b] >= q*all && !math.IsInf(b, 1) {
			return time.Duration(math.Round(b * 1e9))
		}
	}
	return time.Hour
}

// within is how long the share q of the decisions in a histogram's buckets took,
// as if those of a bucket were spread evenly over it; 0 of none.
func within(buckets map[float64]float64, q float64) time.Duration {
	want := q * buckets[math.Inf(1)]
	if want == 0 {
		return 0
	}
	below, n := 0.0, 0.0
	for _, b := range slices.Sorted(maps.Keys(buckets)) {
		if math.IsInf(b, 1) {
			break
		}
		if buckets[b] >= want {
			return time.Duration(1e9 * (below + (b-below)*(want-n)/(buckets[b]-n)))
		}
		below, n = b, buckets[b]
	}
	return time.Hour
}
