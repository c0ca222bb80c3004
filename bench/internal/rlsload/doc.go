// Package rlsload asks servers of Envoy's rate limit service for decisions, over
// gRPC on HTTP/2 without TLS, at a cost that leaves the machine to the server
// that is measured: the ordinary gRPC client costs more than most of them.
//
//	Request, Recording   what is asked: a list with a seed, kept in a file
//	Script               the same as frames that are ready to be sent
//	Closed, Open         callers who wait for their answers; a rate that does not wait
//	Ask                  one after the other, for the answers themselves
//
// A connection sends what grpc-go's client sends, in frames that were encoded
// beforehand: HEADERS of indexed fields and one DATA. What comes back is read to
// the grpc-status, and the message to its verdict. Flow control is kept both
// ways, pings and settings are acknowledged; a server that resets a stream fails
// that call, one that goes away fails the run.
//
// One goroutine serves a connection; an open loop has one more, which sends.
// What is outstanding is bounded. Runs are independent of each other, and a
// Script may be shared by all of them.
package rlsload
