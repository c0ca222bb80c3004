package obs

import (
	"math/bits"
	"net/http"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/identity"
)

// DefaultMaxRules is how many rules of a set have series of their own: with an
// allowed and a denied one each, in two versions, they are 10,000.
const DefaultMaxRules = 2500

// Stripes are what several cores add to at once. Some for each core, because
// they are picked by a hash and should seldom meet.
const (
	stripesPerCore = 4
	maxStripes     = 64
)

// maxScrapes is how many may be under way; others are told to come back.
const maxScrapes = 8

// Options configures a Metrics. The zero value is good.
type Options struct {
	Version  string // of the program
	Revision string // of its source
	MaxRules int    // rules of a set with series of their own; 0 is DefaultMaxRules

	// Now is the clock of timestamps; nil for the machine's.
	Now func() time.Time
}

// Metrics are the counters of a process. Make one with New.
type Metrics struct {
	build    Options
	maxRules int
	stripes  int
	now      func() time.Time
	registry *prometheus.Registry

	live atomic.Pointer[live]
	rest *counts // version="other"; never swept

	checks  [sources]*histogram
	store   *storeCalls
	losses  [losses + 1]atomic.Uint64 // the last for those without a name
	evicted atomic.Uint64
	panics  atomic.Uint64

	instances instances // guarded by mu

	rejected [identity.Whats][identity.Reasons]atomic.Uint64

	// mu is held for the whole of a scrape and while sets change, so that a
	// scrape sees all of a set or its rest, not both.
	mu      sync.Mutex
	config  config
	standby Standby
}

const losses = int(weir.LossCorruptState) + 1

// New returns metrics that are all zero, with those of the Go runtime and the
// process beside them. It registers nothing globally.
func New(o Options) *Metrics {
	if o.MaxRules <= 0 {
		o.MaxRules = DefaultMaxRules
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Metrics{build: o, maxRules: o.MaxRules, now: o.Now, registry: prometheus.NewRegistry()}
	m.stripes = stripes(runtime.GOMAXPROCS(0))
	m.rest = newCounts(other, nil, m.stripes, m.now())
	m.live.Store(&live{})
	for i := range m.checks {
		m.checks[i] = newHistogram(durations, m.stripes)
	}
	m.store = newStoreCalls()
	m.registry.MustRegister(collector{m}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// stripes returns a power of two.
func stripes(cores int) int {
	if cores == 1 {
		return 1
	}
	return min(stripesPerCore<<bits.Len(uint(cores-1)), maxStripes)
}

// Hooks returns what is to be called for m to count.
func (m *Metrics) Hooks() weir.Hooks {
	return weir.Hooks{
		Decided:   m.decided,
		Degraded:  m.countDegraded,
		Panicked:  func(string) { m.panics.Add(1) },
		StoreCall: m.store.count,
		Breaker:   m.store.breakerChanged,
		Evicted:   func(n int) { addCount(&m.evicted, n) },
		Lost: func(kind weir.Loss, n int) {
			addCount(&m.losses[min(int(kind), losses)], n)
		},
	}
}

func (m *Metrics) decided(_ *weir.Request, d *weir.Decision, took time.Duration) {
	stripe, source := stripeOf(d), sourceSlot(d.Source)
	if c := m.live.Load().find(d.SetSerial); c == nil || !c.decisions.add(rowOf(d.RuleIndex), decisionSlot(d.Verdict, d.Source), stripe) {
		m.rest.decisions.add(rowOther, decisionSlot(d.Verdict, d.Source), stripe)
	}
	m.checks[source].observe(int64(took), stripe)
}

// stripeOf picks a stripe by the address of the decision. There is no cheap way
// to ask for the core, but edges keep decisions in pools of each core, or for
// each connection: a core meets the same ones again, and so its own stripes.
// Random stripes would be no better than one: half of all additions, or more,
// would fetch a cache line from another core.
func stripeOf(d *weir.Decision) uint32 {
	return uint32(uint64(reflect.ValueOf(d).Pointer()) * 0x9e3779b97f4a7c15 >> 56)
}

// addCount adds n, which a caller has counted and which is not negative.
func addCount(c *atomic.Uint64, n int) {
	if n > 0 {
		c.Add(uint64(n))
	}
}

// Handler serves the metrics in the formats that Prometheus asks for.
func (m *Metrics) Handler() http.Handler {
	o := promhttp.HandlerOpts{
		// One bad series must not hide the others; the error is counted.
		ErrorHandling:       promhttp.ContinueOnError,
		Registry:            m.registry,
		MaxRequestsInFlight: maxScrapes,
		EnableOpenMetrics:   true,
	}
	scrape := promhttp.HandlerFor(prometheus.GathererFunc(m.scrape), o)
	look := promhttp.HandlerFor(prometheus.GathererFunc(m.gather), o)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			look.ServeHTTP(w, r) // nobody sees what was gathered
			return
		}
		scrape.ServeHTTP(w, r)
	})
}

// gather gathers for somebody who does not remember what was read.
func (m *Metrics) gather() ([]*dto.MetricFamily, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.registry.Gather()
}

// scrape gathers for somebody who remembers what was read.
func (m *Metrics) scrape() ([]*dto.MetricFamily, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	families, err := m.registry.Gather()
	for _, c := range append(m.live.Load().all(), m.rest) {
		c.decisions.scraped()
		c.degraded.scraped()
	}
	return families, err
}
