// Package redisproc runs a redis-server for a program, with the harness that
// Weir's tests use: the servers measured are started as the servers tested
// are. That harness wants a testing.TB; this package is one for a program.
//
// The server ends when Run returns, or with the program. What ends a test ends
// Run with an error. A Server belongs to the goroutine that runs fn, but for
// its Do, as in a test.
package redisproc
