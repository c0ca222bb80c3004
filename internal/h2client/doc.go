// Package h2client sends many small unary gRPC calls over few connections, for
// load tests: a client that costs less than the server it measures.
//
// It is an HTTP/2 client of its own. A call is two frames in the connection's
// buffer, of which only the stream's number, the length and the message are made
// anew; what one read brings is answered by one write; no goroutine and no
// memory belongs to a call. It knows of gRPC what a unary call needs: one message
// each way and the status in the trailers. Messages are bytes to it.
//
//	Client  the lines; counts nothing itself, tells every outcome once
//	line    one connection after another, and the calls that wait for it
//	conn    the protocol's state of one connection; no lock, no time, no network
//	frame   what lies on the wire
//
// Flow control is honoured both ways: calls wait while the server's window or
// its bound on streams leaves no room. A call that has no answer in its time is
// reset and counted; a connection that breaks, or that the server tells to go
// (GOAWAY), is replaced after a growing pause, and what was under way on it is
// told as failed. Nothing is sent twice. Answers are bounded at 64 KiB.
//
// A Client is safe for concurrent use. The functions of Options are called with
// a line's lock held: they must neither block nor call the Client.
package h2client
