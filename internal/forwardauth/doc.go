// Package forwardauth serves /v1/auth: the question that a gateway asks before
// it passes a request on, and knows by many names (auth_request, forward_auth,
// ForwardAuth). The answer's status says whether the request may pass, and its
// header fields are there to be copied into the gateway's own answer.
//
//	GET /v1/auth?domain=api&deny=403
//	X-Forwarded-For: 203.0.113.7
//	X-Forwarded-Method: POST
//	X-Forwarded-Uri: /v1/orders?x=1
//
// Only a trusted peer may ask: it is the one who says which request it speaks
// of. Who the request comes from is found by package identity; method, path and
// host come from headers that the gateway sets. Where several headers are
// configured for one of these and the request has two that disagree, one of them
// may be the client's own, and the question is refused.
//
// # Paths
//
// A path is matched whole and without its query, whatever its length up to 4 KiB;
// a longer one is refused, and so is one that does not begin with a slash. It is
// brought into one form first, because servers behind a gateway take several
// spellings for the same: %6F is o, %2F and a backslash are a slash, // and /./ are
// /. One with a .. segment is refused, since servers differ in what it is. Keys hold long values as digests.
//
// # Failures
//
// 401 is a credential that is required and missing or bad, or one that is there
// twice; 400, 404, 503 and 504 say that no decision was made, as in package
// httpapi. A gateway refuses the request on all of them, unless it is told
// otherwise.
//
// A Handler is safe for concurrent use. It reads no body.
package forwardauth
