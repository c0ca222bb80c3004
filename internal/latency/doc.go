// Package latency has a histogram of latencies that costs nanoseconds to feed
// and tells a quantile to within a sixty-fourth.
//
// Everything here is pure. A Histogram is not safe for concurrent use: each
// caller keeps its own, and they are merged afterwards.
package latency
