// Package grpcerr maps weir's errors to gRPC statuses, for the edges that speak
// gRPC. It is the one place where the two vocabularies meet.
//
// It holds no state, is safe for concurrent use, and fails in no way: what it
// does not know becomes Internal.
package grpcerr
