// Package unarytest calls unary methods without a server, for tests: as a client
// of generated code does, so that one test asks a gRPC server and the fast lane
// alike, or with nothing around them, to measure them.
//
// It spoils the memory that a method may not keep. A Conn is safe for concurrent
// use, a Call is not; a method that answers twice fails the test.
package unarytest
