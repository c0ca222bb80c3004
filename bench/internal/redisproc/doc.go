// Package redisproc runs a redis-server for a program, with the harness that
// Weir's tests use: the servers measured are started as the servers tested
// are. That harness wants a testing.TB; this package is one for a program.
//
// Servers end when Run or With returns, or with the program. What ends a test
// ends them with an error. A Server belongs to the goroutine that runs fn, but for
// its Do, as in a test.
package redisproc
