package peer

import (
	"net/http"
)

// Middleware is a library's own middleware for net/http, counting in memory, by
// the address that a request comes from. All set their header fields.
type Middleware struct {
	Name string
	Ours bool
	// New wraps next, with room for that many addresses.
	New func(l Limit, keys int, next http.Handler) (Wrapped, error)
}

// Wrapped is a handler with limits, and what ends them.
type Wrapped struct {
	http.Handler
	Close func() error
}

// Middlewares returns all that are compared, Weir first. The bare handler is
// what the others add to.
func Middlewares() []Middleware {
	return []Middleware{weirLegacyMiddleware, weirMiddleware, weirPlainMiddleware, httprateMiddleware, tollboothMiddleware, ululeMiddleware, throttledMiddleware, bare}
}

// Bare is the name of the handler without limits.
const Bare = "no limits"

var bare = Middleware{
	Name: Bare,
	New:  func(_ Limit, _ int, next http.Handler) (Wrapped, error) { return wrapped(next), nil },
}

func wrapped(h http.Handler) Wrapped { return Wrapped{h, func() error { return nil }} }
