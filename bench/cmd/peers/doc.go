// Command peers measures Weir beside envoyproxy/ratelimit on a Redis that it
// starts itself, in one interleaved run under the same recorded requests, prints
// the tables with the bars that Weir promises to clear, and writes
// docs/benchmarks-peers.md and its plots.
//
//	make bench-peers [BENCH="-quick -check -rounds n -only part -o file.json ..."]
//
// It takes about ten minutes, two with -quick, and both of the cores it measures
// on. It exits with 1 when it could not measure and, with -check, also when a
// bar was missed or an answer differed. All that it starts ends with it.
package main
