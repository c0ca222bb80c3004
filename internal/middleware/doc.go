// Package middleware is what the middlewares for HTTP and gRPC have in common:
// a request is asked about, waits if a leaky bucket says so, holds its place
// while it is served, and is charged afterwards for what it turned out to cost.
// It knows no protocol: httplimit and grpclimit fill in what they know of a
// request and say the answer in their own way.
//
//	p := gate.Begin()
//	defer p.End(ctx)
//	p.Dimension("tenant", tenant)
//	if err := p.Enter(ctx); err != nil { ... } // refused, or the caller is gone
//	if !p.Decision.Allowed() { ... }
//	...
//	p.Spend(ctx, cost)
//
// # Failures
//
// A checker that fails is not the outage: the request passes, with reason
// degraded, and Config.OnError is told. With FailClosed it is denied with that
// reason instead. A request that the checker refuses as wrong (a dimension that
// a policy requires is missing) is not let pass: leaving something out would be
// a way around the limit. Enter returns that error.
//
// A Gate is safe for concurrent use and immutable. A Pass belongs to one
// request; after End it belongs to the pool. Both hold no goroutine.
package middleware
