package obs

import "github.com/prometheus/client_golang/prometheus"

// Connections is what became of the connections of a listener, and of streams
// that were not served. The reasons are few and known beforehand.
type Connections struct {
	Open            int64
	Closed, Refused map[string]uint64 // by reason
}

var (
	connectionsOpen  = desc("grpc_connections", "Connections of the gRPC listener.")
	connectionsEnded = desc("grpc_connections_closed_total", "Connections of the gRPC listener that ended, by the reason.", "reason")
	streamsRefused   = desc("grpc_streams_refused_total", "Streams of the gRPC listener that were not served, by the reason.", "reason")
)

type connections struct{ read func() Connections }

var _ prometheus.Collector = connections{}

// Connections exports what read returns, which is called for every scrape. It
// is called once.
func (m *Metrics) Connections(read func() Connections) { m.registry.MustRegister(connections{read}) }

// Describe implements prometheus.Collector.
func (connections) Describe(ch chan<- *prometheus.Desc) {
	ch <- connectionsOpen
	ch <- connectionsEnded
	ch <- streamsRefused
}

// Collect implements prometheus.Collector.
func (c connections) Collect(ch chan<- prometheus.Metric) {
	s, now := sink{ch}, c.read()
	s.gauge(connectionsOpen, float64(now.Open))
	for reason, n := range now.Closed {
		s.counter(connectionsEnded, n, reason)
	}
	for reason, n := range now.Refused {
		s.counter(streamsRefused, n, reason)
	}
}
