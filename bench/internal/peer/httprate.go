package peer

import (
	"net"
	"net/http"

	"github.com/go-chi/httprate"
)

var httprateMiddleware = Middleware{
	Name: "go-chi/httprate",
	New: func(l Limit, _ int, next http.Handler) (Wrapped, error) {
		byIP := func(r *http.Request) (string, error) { // as its documentation has it, for the peer's address
			host, _, err := net.SplitHostPort(r.RemoteAddr)
			return httprate.CanonicalizeIP(host), err
		}
		return wrapped(httprate.LimitBy(int(l.Count), l.Period, byIP)(next)), nil
	},
}
