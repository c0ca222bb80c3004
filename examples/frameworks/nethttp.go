package frameworks

import (
	"fmt"
	"net/http"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/httplimit"
)

// NetHTTP limits a mux as a whole. Routes are then known by method and path.
func NetHTTP(limits weir.Checker) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintln(w, "order", r.PathValue("id"))
	})
	return httplimit.New(limits)(mux)
}

// NetHTTPRoute limits one handler. The policy may then name its pattern, and
// all orders share a counter.
func NetHTTPRoute(limits weir.Checker) http.Handler {
	limit := httplimit.New(limits)
	mux := http.NewServeMux()
	mux.Handle("GET /orders/{id}", limit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintln(w, "order", r.PathValue("id"))
	})))
	return mux
}
