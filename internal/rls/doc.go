// Package rls serves envoy.service.ratelimit.v3: Envoy's rate limit service,
// over gRPC and, as protojson, over HTTP.
//
// It translates, and nothing else: a RateLimitRequest becomes a weir.Request, a
// weir.Decision becomes a RateLimitResponse. Envoy's types stop here. What the
// wire cannot say (a 30 second window) is said as nearly as it can: see units.go.
//
// A Server is safe for concurrent use and holds no state but a bounded cache of
// the limits that requests bring along.
package rls
