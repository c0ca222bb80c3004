// Package native serves weir.v1, Weir's own gRPC API: Limiter on the data
// listener, Admin on the admin listener.
//
// It translates between the wire and weir's vocabulary and decides nothing. A
// stream of CheckBatch holds two goroutines however many checks are
// outstanding; their number is bounded, and a caller that does not read its
// answers stops being read from.
//
// Servers are safe for concurrent use.
package native
