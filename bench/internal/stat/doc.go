// Package stat is the arithmetic of the comparison: medians with their spread,
// and a histogram of latencies that costs nanoseconds to feed.
//
// Medians and not means, because a busy neighbour on the machine makes one
// round slow, not all of them. Everything here is pure. A Summary is safe to
// copy; a Histogram is not safe for concurrent use, so each caller keeps its
// own and they are merged afterwards.
package stat
