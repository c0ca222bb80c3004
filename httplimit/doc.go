// Package httplimit limits HTTP requests on either side of the wire: New makes
// middleware for handlers, Transport is a client that keeps to the limits it is
// told of.
//
//	limits, err := embedded.Open("policies.yaml")
//	...
//	http.ListenAndServe(":8080", httplimit.New(limits)(mux))
//
// New asks any weir.Checker, an engine in this process or a server elsewhere.
// A request becomes dimensions:
//
//	method, path    always
//	route           the pattern of the http.ServeMux that chose the handler, if one did
//	ip              the peer's address, unless WithDimensions says otherwise
//
// A denial is answered with 429 (503 when nothing could be decided, or the
// service has no room: see docs/load-shedding.md), both
// families of header fields, Retry-After and a body of application/problem+json.
// An admission carries the fields too.
//
// # When there is no decision
//
// A checker that cannot decide lets the request pass, or with WithFailClosed is
// answered with 503. A request that cannot be right (a dimension that fails or
// that a policy requires and is not there) is refused with 400 in either case:
// if it passed, a caller could choose not to be limited.
//
// # Memory and concurrency
//
// Middleware is safe for concurrent use, has no goroutines and needs no closing.
// A request that is admitted costs one allocation, for its header fields (every
// eighth costs two), and none with WithoutHeaders. The ResponseWriter is handed on as it is, unless a
// cost or a refund depends on the response.
//
// A Transport is safe for concurrent use, and remembers a bounded number of
// limits. Nothing here panics; a handler's panic is passed on, after what the
// request held was released.
package httplimit
