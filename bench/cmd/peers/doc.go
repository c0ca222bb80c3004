// Command peers measures Weir beside envoyproxy/ratelimit on a Redis that it
// starts itself, in one interleaved run under the same recorded requests, and
// beside Go libraries in process, prints the tables with the bars that Weir
// promises to clear, and writes docs/benchmarks.md and its plots.
//
//	make bench-peers [BENCH="-quick -check -rounds n -only part -o file.json ..."]
//
// It takes about a quarter of an hour, two or three minutes with -quick, and both
// of the cores it measures on. It exits with 1 when it could not measure and,
// with -check, also when a bar was missed or an answer differed. All that it
// starts ends with it. -from writes the document of an earlier run's samples
// again.
package main
