package frameworks

import (
	"fmt"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/httplimit"
)

// Chi limits routes. With, and not Use: only then is the route known, and chi
// tells its pattern.
func Chi(limits weir.Checker) http.Handler {
	r := chi.NewRouter()
	r.With(httplimit.New(limits)).Get("/orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintln(w, "order", chi.URLParam(r, "id"))
	})
	return r
}
