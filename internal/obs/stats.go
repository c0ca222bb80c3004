package obs

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// Stats writes every counter and gauge as a line, name: value, sorted; of a
// histogram its count and sum. It is for people: to Prometheus it does not
// count as a scrape.
func (m *Metrics) Stats(w io.Writer) error {
	families, err := m.gather()
	if err != nil {
		return fmt.Errorf("gather metrics: %w", err)
	}
	var lines []string
	for _, f := range families {
		for _, s := range f.GetMetric() {
			lines = appendStats(lines, f.GetName(), labels(s), s)
		}
	}
	slices.Sort(lines)
	_, err = io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

func appendStats(lines []string, name, labels string, s *dto.Metric) []string {
	put := func(suffix string, v float64) {
		lines = append(lines, name+suffix+labels+": "+strconv.FormatFloat(v, 'f', -1, 64))
	}
	switch {
	case s.GetCounter() != nil:
		put("", s.GetCounter().GetValue())
	case s.GetGauge() != nil:
		put("", s.GetGauge().GetValue())
	case s.GetHistogram() != nil:
		put("_count", float64(s.GetHistogram().GetSampleCount()))
		put("_sum", s.GetHistogram().GetSampleSum())
	case s.GetSummary() != nil:
		put("_count", float64(s.GetSummary().GetSampleCount()))
		put("_sum", s.GetSummary().GetSampleSum())
	}
	return lines
}

// labels writes the labels as Prometheus does; each stays on its line.
func labels(s *dto.Metric) string {
	if len(s.GetLabel()) == 0 {
		return ""
	}
	var pairs []string
	for _, l := range s.GetLabel() {
		pairs = append(pairs, l.GetName()+"="+strconv.Quote(l.GetValue()))
	}
	return "{" + strings.Join(pairs, ",") + "}"
}
