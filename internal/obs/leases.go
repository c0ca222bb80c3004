package obs

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// Leases is what became of units that were taken ahead, and of the keys that are
// asked for most.
type Leases struct {
	Taken, Spent, Lost                  int64 // units
	Held                                int64
	Keys                                int
	Full, Short, Empty, Failed, Crowded int64 // leases asked for
	Bound                               int64
	Share                               float64
	HotKeys                             int
	// Rates are the requests a second of the keys asked for most, those first.
	Rates [10]float64
}

var (
	leaseUnits = desc("lease_tokens_total",
		"Units of leased counters, by whether they were taken ahead, spent, or lost at the end of a lease.", "what")
	leasesTotal = desc("leases_total", "Leases asked for, by what the store granted: full, short, none, an error, or not asked because too many were under way.", "result")
	leaseHeld   = desc("lease_tokens_held", "Units that were taken ahead and can be spent.")
	leaseKeys   = desc("lease_keys", "Counters that units are held of.")
	leaseBound  = desc("lease_overadmission_bound",
		"By how many units more than a limit may be admitted: what all instances together may hold of one counter, the largest of all.")
	leaseShare = desc("lease_overadmission_share", "The same as a part of the limit's capacity, the largest of all.")
	hotKeys    = desc("hot_keys", "Counters that are asked for often enough to be leased, at this instance.")
	hotRate    = desc("hot_key_rate", "Requests a second of the ten counters asked for most, at this instance, by their rank.", "rank")
)

// leases reads them for every scrape.
type leases struct{ read func() Leases }

var _ prometheus.Collector = leases{}

// Leases exports what read returns, which is called for every scrape. It is
// called once.
func (m *Metrics) Leases(read func() Leases) { m.registry.MustRegister(leases{read}) }

// Describe implements prometheus.Collector.
func (leases) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{leaseUnits, leasesTotal, leaseHeld, leaseKeys, leaseBound, leaseShare, hotKeys, hotRate} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c leases) Collect(ch chan<- prometheus.Metric) {
	s, l := sink{ch}, c.read()
	for what, n := range map[string]int64{"taken": l.Taken, "spent": l.Spent, "lost": l.Lost} {
		s.counter(leaseUnits, uint64(max(n, 0)), what)
	}
	for result, n := range map[string]int64{"full": l.Full, "short": l.Short, "none": l.Empty, "error": l.Failed, "crowded": l.Crowded} {
		s.counter(leasesTotal, uint64(max(n, 0)), result)
	}
	s.gauge(leaseHeld, float64(l.Held))
	s.gauge(leaseKeys, float64(l.Keys))
	s.gauge(leaseBound, float64(l.Bound))
	s.gauge(leaseShare, l.Share)
	s.gauge(hotKeys, float64(l.HotKeys))
	for i, rate := range l.Rates {
		s.gauge(hotRate, rate, strconv.Itoa(i+1))
	}
}
