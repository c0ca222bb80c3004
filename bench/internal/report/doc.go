// Package report turns measurements into pages, and holds them against the bars
// that Weir promises to clear.
//
//	Peers      docs/benchmarks.md and its plots: servers beside each other, and
//	           libraries in short; written by make bench-peers
//	Document   docs/benchmarks-libraries.md: libraries at length; by make bench
//
// Everything here is pure: the same measurements give the same text. A table
// is Markdown whose columns line up, to be read in a terminal as well.
package report
