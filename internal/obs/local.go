package obs

import "github.com/prometheus/client_golang/prometheus"

// DenyCache says how many counters a deny cache knows of. It is called once, and
// records for every scrape; what the cache answers is counted by its source.
func (m *Metrics) DenyCache(records func() int) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "weir_deny_cache_records",
		Help: "Counters that something is known of without asking the store.",
	}, func() float64 { return float64(records()) }))
}
