// Package respond says a decision in HTTP: the status, the header fields and
// the body of a denial. Every edge that speaks HTTP and the command line say it
// through here, so that they say the same.
//
// Two families of fields are sent side by side. RateLimit-Policy and RateLimit
// are structured fields (RFC 9651) of draft-ietf-httpapi-ratelimit-headers-11;
// the X-RateLimit fields are what most clients read today. All live values
// describe one limit, the one that binds: that which denied, or has least left.
//
//	RateLimit-Policy       "api:1s";q=100;w=1;weir-burst=200, "api:1h";q=100000;w=3600
//	RateLimit              "api:1s";r=0;t=1
//	X-RateLimit-Limit      200           most units at once: the burst, or the count
//	X-RateLimit-Remaining  0
//	X-RateLimit-Reset      1767225602    Unix seconds, when nothing is in use
//	X-RateLimit-Policy     api:1s
//	X-RateLimit-Scope      tenant
//	Retry-After            2             denials only
//
// What no limit applied to, or was decided without knowing the limit's state,
// has none but Retry-After. Rules in shadow are never shown.
//
// Everything is pure: the clock and the chance in Retry-After are arguments. An
// Answer and the append functions are safe for concurrent use as long as nobody
// changes the decision; a Fields is not. Nothing fails: a name that a field
// cannot hold is escaped, a number out of range is brought into it, and a
// Decision nobody filled becomes a 500, never an admission. Once a Fields has
// been used, and into a slice with room, nothing allocates.
package respond
