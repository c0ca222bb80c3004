// Package wire translates between weir.v1's messages and weir's vocabulary, in
// both directions: the server in internal/native reads requests and writes
// answers, package client writes requests and reads answers. What the one
// writes the other reads back as it was.
//
// It holds no state and is safe for concurrent use. What a message may not say
// is an *weir.Error with CodeInvalid that names the field; what a newer server
// says and is not known here reads as the safe side of it.
package wire
