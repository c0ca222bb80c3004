// Package unary is what the methods of the fast lane have in common: the port
// through which a method that is served message by message, without gRPC's
// runtime, sees its caller, and the one such method that is no other package's,
// grpc.health.v1.Health/Check.
//
// A method takes the bytes of a request and answers with bytes. It does not
// block: what it waits for calls it back. Which server the bytes come from it
// does not know; internal/fastlane is one, internal/unarytest another.
//
// What a method needs for a call it has in a Place, which may stay with the call
// for the next one; how it is decided there is a Seat's.
//
// All is safe for concurrent use, but for a Place, which is one call's. What cannot be read is answered as grpc-go
// answers it, with code Internal.
package unary
