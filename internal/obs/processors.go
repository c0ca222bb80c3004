package obs

import "github.com/prometheus/client_golang/prometheus"

// Processors says how many processors are enough. It is called once, and enough
// for every scrape, which itself may have more of them.
func (m *Metrics) Processors(enough func() int) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "weir_processors",
		Help: "Processors that Go is given because the work needs no more.",
	}, func() float64 { return float64(enough()) }))
}
