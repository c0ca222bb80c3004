// Command compare measures Weir and other Go rate limiters in one interleaved
// run, in memory and on a Redis that it starts itself, prints the tables with
// the bars that Weir promises to clear, and writes
// docs/benchmarks-libraries.md.
//
//	cd bench && go run ./cmd/compare [-quick] [-only memory|middleware|redis|local] [-rounds n] [-out file] [-check]
//
// It takes about six minutes and both of the cores it measures on: figures
// from a machine that does something else at the same time are worth little.
// It exits with 1 when it could not measure and, with -check, also when a bar
// was missed.
package main
