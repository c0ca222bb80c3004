// Package grpclimit limits the calls that a gRPC server takes:
//
//	limits, err := embedded.Open("policies.yaml")
//	...
//	limit := grpclimit.New(limits)
//	server := grpc.NewServer(
//		grpc.ChainUnaryInterceptor(limit.Unary),
//		grpc.ChainStreamInterceptor(limit.Stream),
//	)
//
// It asks any weir.Checker, an engine in this process or a client of a server
// elsewhere. A call becomes dimensions:
//
//	route    the full method, such as /shop.v1.Orders/Place, always
//	ip       the peer's address, unless WithDimensions says otherwise
//
// so that policies match {route: /shop.v1.Orders/*}. A stream is one call, and
// holds its place of a concurrency limit until it ends; WithMessageCost charges
// the messages that it receives, too.
//
// A denied call ends with RESOURCE_EXHAUSTED, or UNAVAILABLE when nothing could
// be decided or the service has no room, with RetryInfo and, for a quota,
// QuotaFailure among the details. Answers carry
// the rate limit fields of HTTP as header metadata, in lower case.
//
// # When there is no decision
//
// A checker that cannot decide lets the call pass, or with WithFailClosed ends
// it with UNAVAILABLE. A call that cannot be right (a dimension that fails, or
// that a policy requires and is not there) ends with INVALID_ARGUMENT in either
// case: if it passed, a caller could choose not to be limited.
//
// A Limiter is safe for concurrent use, has no goroutines and needs no closing.
// Nothing here panics; a handler's panic is passed on, after what the call held
// was released.
package grpclimit
