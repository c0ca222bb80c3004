// Package httpapi serves decisions over plain HTTP, for scripts and for
// languages without a gRPC client:
//
//	POST /v1/check    {"domain": "default", "dimensions": {"tenant": "acme"}}
//	POST /v1/release  {"domain": "default", "dimensions": {"tenant": "acme"}, "request_id": "7"}
//
// A check is answered 200, 429, or 503 for a fail-closed policy whose store is
// away, with the fields and the problem body of package respond: a caller can
// act on the status alone, or read all of it. 400 is the caller's mistake, 404 an
// unknown policy.
//
// Handlers are safe for concurrent use. Bodies are bounded at 64 KiB.
package httpapi
