// Package budget measures what one decision costs, and what each of its parts
// does: see docs/performance.md, and `make budget`, which prints the table.
//
// It holds benchmarks and nothing else. They report cpu-ns/op beside the time
// that passed: what the process used of its cores, which other work on the
// machine changes much less.
package budget
