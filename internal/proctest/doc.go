// Package proctest runs programs for tests: real servers, as children that end
// with the test binary, on ports of 127.0.0.1 that nobody else is given.
//
// It knows no program. internal/redistest, internal/gatewaytest and
// internal/doctest know theirs and use this for what they share: a child leads
// a process group of its own and is killed with all that it forked, the kernel
// ends it when the test binary is killed, and a held port stays held while the
// server on it is started, stopped and started again.
//
// A Process is safe for concurrent use. Failures are errors; the packages above
// decide what they mean for a test.
package proctest
