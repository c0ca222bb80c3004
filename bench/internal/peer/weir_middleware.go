package peer

import (
	"fmt"
	"net/http"

	"github.com/weirlimit/weir/embedded"
	"github.com/weirlimit/weir/httplimit"
)

var weirMiddleware = newWeirMiddleware("Weir, httplimit")

// The fields that most of the others set.
var weirLegacyMiddleware = newWeirMiddleware("Weir, httplimit, X-RateLimit only", httplimit.WithLegacyHeaders())

// What both families of header fields cost shows beside the same without them.
var weirPlainMiddleware = newWeirMiddleware("Weir, httplimit without header fields", httplimit.WithoutHeaders())

func newWeirMiddleware(name string, opts ...httplimit.Option) Middleware {
	return Middleware{
		Name: name,
		Ours: true,
		New: func(l Limit, keys int, next http.Handler) (Wrapped, error) {
			store := newMemstore(keys)
			limits, err := embedded.Parse(fmt.Sprintf("policies:\n  - {id: bench, by: [ip], limits: [%s], on_failure: open}\n", weirLimit(l)),
				embedded.WithStore(store))
			if err != nil {
				return Wrapped{}, err
			}
			return Wrapped{httplimit.New(limits, opts...)(next), func() error {
				if err := limits.Close(); err != nil {
					return err
				}
				return closeMemstore(store)
			}}, nil
		},
	}
}
