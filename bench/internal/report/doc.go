// Package report turns measurements into the tables of docs/benchmarks.md, and
// holds them against the bars that Weir promises to clear.
//
// Everything here is pure: the same measurements give the same text. A table
// is Markdown whose columns line up, to be read in a terminal as well.
package report
