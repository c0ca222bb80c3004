// Package identity says whose request it is: the tenant, the user, the plan,
// the API key and the client's address, as dimensions to limit by.
//
//	r, err := identity.New(identity.Options{Keys: keys})
//	pairs, err = r.Dimensions(req, pairs[:0])
//
// Only what was verified becomes a dimension. In order, the first that holds
// wins:
//
//  1. a JWT, checked by a [Verifier] (package identity/token has one): tenant,
//     user, plan and whatever other claims are mapped;
//  2. an API key that is known by its digest: api_key (its id, never the
//     secret), tenant, user and plan;
//  3. the tenant header of a trusted peer: tenant.
//
// A credential that was presented and failed is not replaced by a weaker one of
// the client's own: after a bad token the API key is not looked at. The tenant
// header is another matter: it is the word of the peer, not of the client, and
// holds unless a verified credential names the tenant.
//
// # Peers and the client's address
//
// The peer is the other end of the connection, [http.Request.RemoteAddr], and
// never a header. What headers say of the client's address is believed only
// when they come from a peer in [Options.Trusted], by default loopback. From the
// right of X-Forwarded-For, or of Forwarded (RFC 7239), entry number Hops was
// written by the outermost proxy that is ours, and is the client; what is left of
// it was sent by the client itself and is not even parsed, so that nothing a
// client sends can change the answer. A header that is not as it should be is
// not believed: the address is then the peer's own, whose quota is spent. See
// [ClientIP].
//
// # Failures
//
// Nothing here fails a request but a credential that is required: Dimensions
// then returns a [*Rejection]. Everything else that is not believed is told to
// [Options.Rejected], by a bounded set of reasons, and yields no dimension.
//
// A [Resolver] is immutable and safe for concurrent use. It starts no goroutine
// and does no I/O.
package identity
