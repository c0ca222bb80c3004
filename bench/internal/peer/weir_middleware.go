package peer

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/weirlimit/weir/embedded"
	"github.com/weirlimit/weir/httplimit"
)

var weirMiddleware = newWeirMiddleware("Weir, httplimit", nil)

// LikeTheOthers is the name of Weir's middleware with what the others do: three
// header fields, and addresses that are not hashed.
const LikeTheOthers = "Weir, httplimit, as the others"

var weirLegacyMiddleware = newWeirMiddleware(LikeTheOthers, []embedded.Option{embedded.WithPrivate()}, httplimit.WithLegacyHeaders())

// What both families of header fields cost shows beside the same without them.
var weirPlainMiddleware = newWeirMiddleware("Weir, httplimit without header fields", nil, httplimit.WithoutHeaders())

func newWeirMiddleware(name string, kept []embedded.Option, opts ...httplimit.Option) Middleware {
	return Middleware{
		Name: name,
		Ours: true,
		New: func(l Limit, keys int, next http.Handler) (Wrapped, error) {
			store := newMemstore(keys)
			limits, err := embedded.Parse(fmt.Sprintf("policies:\n  - {id: bench, by: [ip], limits: [%s], on_failure: open}\n", weirLimit(l)),
				append(slices.Clip(kept), embedded.WithStore(store))...)
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
