// Package obs counts what a Weir process does, and tells it to Prometheus.
//
// It is fed by weir.Hooks, on the goroutines that decide; nothing else in Weir
// counts on its own. The hook that runs once per request takes no lock, looks
// up no label and allocates nothing: it adds to plain arrays, which are read
// and given names when somebody scrapes.
//
//	hooks --> arrays of counters, one per set of policies --> scrape --> /metrics
//	                                                                 \-> /stats
//
// # Series are bounded
//
// The first Options.MaxRules rules of a set have series of their own, the rest
// share rule="other". Requests that no rule binds are rule="none". What a
// caller sends (domains, tenants, values) is never a label. Shards beyond the
// first 128 share shard="other".
//
// # Sets and versions
//
// Counters of decisions carry the version of the set that made them. The set in
// force and the one before it are exported under their versions. When a third
// is loaded the oldest one's series end, and what of them no scrape has seen,
// with what is still counted under it, is added to version="other": to a
// Prometheus that scrapes, nothing is lost and nothing is counted twice. (With
// several that scrape, nothing is lost unless two reloads fall between two
// scrapes of one of them.) Series of a new version begin in mid-count; they say
// when they were created, and weir_check_duration_seconds_count has no version
// for those who want one line across reloads.
//
// # Concurrency and failure
//
// A Metrics is safe for concurrent use. A scrape blocks other scrapes and
// SetLoaded, never a decision. Nothing here can fail a decision: a rule index or
// set serial that is not known is counted as other. A rule id that is no text
// is exported with its bad bytes replaced.
package obs
