// Package unarytest calls unary methods, for tests: over a real connection to the
// fast lane's server (Listen), with no server around them (Dial), both as
// generated clients do, so that one test asks a gRPC server and the fast lane
// alike; or with nothing around them at all, to measure them (Bare).
//
// A Conn spoils the memory that a method may not keep. It is safe for concurrent
// use, a Bare is not; a method that answers twice fails the test.
package unarytest
