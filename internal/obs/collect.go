package obs

import (
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirlimit/weir"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("weir_"+name, help, labels, nil)
}

// What is exported. The names are an interface: dashboards and alerts use them.
var (
	buildInfo = desc("build_info", "The program that runs; always 1.", "version", "revision", "go_version")

	decisionsTotal = desc("decisions_total",
		"Requests decided, by the rule that binds, the version of its set, the verdict and where it was made.",
		"domain", "rule", "version", "outcome", "source")
	degradedTotal = desc("degraded_total",
		"Requests answered by their fail mode because the store did not answer, by the reason.",
		"domain", "rule", "version", "reason")
	checkSeconds = desc("check_duration_seconds", "Time to decide a request, by where it was decided.", "source")

	storeCallsTotal  = desc("store_calls_total", "Round trips to the store, failed ones included.", "shard")
	storeErrorsTotal = desc("store_errors_total", "Round trips to the store that failed, by the reason.", "shard", "reason")
	roundTripSeconds = desc("store_round_trip_seconds", "Time of a round trip to the store.", "shard")
	scriptSeconds    = desc("store_script_seconds", "Time the store was busy with one call and no other, where it is measured.", "shard")
	batchEntries     = desc("store_batch_entries", "Requests answered by one round trip.")
	batchGroups      = desc("store_batch_groups", "Distinct requests sent in one round trip.")
	batchKeys        = desc("store_batch_keys", "Distinct keys touched by one round trip.")

	breakerState   = desc("breaker_state", "The breaker before a shard of the store: 0 closed, 1 open, 2 half-open.", "shard")
	breakerChanges = desc("breaker_transitions_total", "Changes of a shard's breaker, by the state it took.", "shard", "state")

	instancesLive = desc("instances", "Instances known to share the store's counters, this one included.")
	clockOffset   = desc("clock_offset_seconds", "How far the store's clock is ahead of this machine's.")
	clockError    = desc("clock_offset_error_seconds", "How far weir_clock_offset_seconds may be off: half the round trip.")

	lossesTotal  = desc("losses_total", "Events after which a counter may not be what it should.", "kind")
	evictedTotal = desc("evicted_states_total", "States that still counted and were dropped by a bounded store.")
	panicsTotal  = desc("panics_total", "Panics that were recovered.")

	rejectionsTotal = desc("identity_rejections_total",
		"Claims to an identity that were not believed, by what was claimed and why.", "what", "reason")

	configInfo    = desc("config_info", "The version of the policies in force; always 1.", "version")
	configSerial  = desc("config_serial", "How many sets of policies were loaded, the one in force included.")
	configRules   = desc("config_rules", "Rules in force.")
	configUnnamed = desc("config_unnamed_rules", "Rules in force that are counted as other, being too many.")
	reloadsTotal  = desc("config_reloads_total", "Loads of the configuration, by whether all that is written is in service.", "result")
	reloadSuccess = desc("config_last_reload_successful", "Whether all that was written was in service after the last load.")
	reloadTime    = desc("config_last_reload_timestamp_seconds", "When the last load ended.")
	reloadGood    = desc("config_last_success_timestamp_seconds", "When the last load ended that was successful.")
	reloadSeconds = desc("config_last_reload_duration_seconds", "How long the last load took.")
	problems      = desc("config_problems", "Problems and warnings that the last load found.")
	staleFiles    = desc("config_stale_files", "Files whose present contents are not in service.")

	fileStale      = desc("file_stale", "Whether what is written in a file other than a policy is not in service.", "what")
	certificateEnd = desc("tls_certificate_expiry_timestamp_seconds", "When the certificate of a listener ends.", "listener")
)

var descs = []*prometheus.Desc{
	buildInfo, decisionsTotal, degradedTotal, checkSeconds,
	storeCallsTotal, storeErrorsTotal, roundTripSeconds, scriptSeconds, batchEntries, batchGroups, batchKeys,
	breakerState, breakerChanges, instancesLive, clockOffset, clockError,
	lossesTotal, evictedTotal, panicsTotal, rejectionsTotal,
	configInfo, configSerial, configRules, configUnnamed, reloadsTotal, reloadSuccess,
	reloadTime, reloadGood, reloadSeconds, problems, staleFiles,
	fileStale,
	certificateEnd,
}

// collector reads a Metrics whose mu is held by who gathers.
type collector struct{ m *Metrics }

var _ prometheus.Collector = collector{}

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range slices.Concat(descs, standbyDescs) {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	s := sink{ch}
	m := c.m
	s.gauge(buildInfo, 1, text(m.build.Version), text(m.build.Revision), runtime.Version())
	for _, c := range append(m.live.Load().all(), m.rest) {
		s.decisions(c)
		s.degraded(c)
	}
	for source, h := range m.checks {
		if source == int(weir.SourceStore) || h.count() > 0 {
			ch <- h.export(checkSeconds, weir.Source(source).String())
		}
	}
	s.store(m.store)
	s.instances(&m.instances)
	for kind := range m.losses {
		if n := m.losses[kind].Load(); kind < losses || n > 0 {
			s.counter(lossesTotal, n, weir.Loss(kind).String())
		}
	}
	s.counter(evictedTotal, m.evicted.Load())
	s.counter(panicsTotal, m.panics.Load())
	s.rejections(m)
	s.standby(m.standby)
	s.config(&m.config)
}

// sink writes samples.
type sink struct{ ch chan<- prometheus.Metric }

func (s sink) gauge(d *prometheus.Desc, v float64, labels ...string) {
	s.ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (s sink) counter(d *prometheus.Desc, n uint64, labels ...string) {
	s.ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

func (s sink) counterSince(since time.Time, d *prometheus.Desc, n uint64, labels ...string) {
	s.ch <- prometheus.MustNewConstMetricWithCreatedTimestamp(d, prometheus.CounterValue, float64(n), since, labels...)
}

func (s sink) store(calls *storeCalls) {
	s.ch <- calls.entries.export(batchEntries)
	s.ch <- calls.groups.export(batchGroups)
	s.ch <- calls.keys.export(batchKeys)
	shards := *calls.shards.Load()
	for _, name := range slices.Sorted(maps.Keys(shards)) {
		s.shard(name, shards[name])
	}
	if calls.rest.roundTrip.count() > 0 || calls.rest.breaker.changed() {
		s.shard(other, calls.rest)
	}
}

func (s sink) shard(name string, sh *shard) {
	s.counter(storeCallsTotal, sh.roundTrip.count(), name)
	s.ch <- sh.roundTrip.export(roundTripSeconds, name)
	if sh.script.count() > 0 {
		s.ch <- sh.script.export(scriptSeconds, name)
	}
	for code := range sh.errors {
		if n := sh.errors[code].Load(); n > 0 {
			s.counter(storeErrorsTotal, n, name, weir.Code(code).String())
		}
	}
	s.breaker(name, &sh.breaker)
}

func (s sink) config(c *config) {
	if c.serial != 0 {
		s.gauge(configInfo, 1, c.version)
	}
	s.gauge(configSerial, float64(c.serial))
	s.gauge(configRules, float64(c.rules))
	s.gauge(configUnnamed, float64(c.unnamed))
	s.counter(reloadsTotal, c.reloads[0], "failure")
	s.counter(reloadsTotal, c.reloads[1], "success")
	for _, what := range slices.Sorted(maps.Keys(c.followed)) {
		s.gauge(fileStale, boolValue(!c.followed[what]), what)
	}
	for _, listener := range slices.Sorted(maps.Keys(c.certificates)) {
		s.gauge(certificateEnd, seconds(c.certificates[listener]), listener)
	}
	if c.lastAt.IsZero() {
		return // nothing to say of a load that was not
	}
	s.gauge(reloadSuccess, boolValue(c.last.OK))
	s.gauge(reloadTime, seconds(c.lastAt))
	s.gauge(reloadSeconds, c.last.Took.Seconds())
	s.gauge(problems, float64(c.last.Problems))
	s.gauge(staleFiles, float64(c.last.StaleFiles))
	if !c.lastGood.IsZero() {
		s.gauge(reloadGood, seconds(c.lastGood))
	}
}

func boolValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
