// Package gatewaytest runs real gateways for tests: nginx, Caddy and HAProxy as
// Debian packages them, with the very files of examples/, between a client, a
// weir serve and a backend that remembers what reached it.
//
//	client --> Gateway --> Backend
//	              |
//	              +--> Weir
//
// The files are used as they are written; only the documented addresses are
// replaced by free ones ([Rewrite]). Every process runs in the foreground in a
// temporary directory, on ports of 127.0.0.1 that are its own, as whoever runs
// the tests, and ends with the test: workers too, and also when the test binary
// is killed. Its log is printed when the test fails.
//
// A program that is missing fails the test and says how to get it. The helpers
// call Fatal and so belong on the test's own goroutine; the values they return
// are safe for concurrent use where that is said.
package gatewaytest
