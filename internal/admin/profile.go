package admin

import (
	"fmt"
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"
)

// maxProfile bounds how long one request may have the process profiled.
const maxProfile = 2 * time.Minute

// profiles are the pages of net/http/pprof, less cmdline: the command line is
// nobody's business, and go tool pprof does without it.
func profiles() []Page {
	return []Page{
		{"GET /debug/pprof/", "profiles: heap, goroutine, mutex, block, ...", bounded(pprof.Index)},
		{"GET /debug/pprof/profile", "a CPU profile, of ?seconds=30", bounded(pprof.Profile)},
		{"GET /debug/pprof/trace", "an execution trace, of ?seconds=1", bounded(pprof.Trace)},
		{"GET /debug/pprof/symbol", "", http.HandlerFunc(pprof.Symbol)},
		{"POST /debug/pprof/symbol", "", http.HandlerFunc(pprof.Symbol)},
		{"GET /debug/pprof/cmdline", "", http.HandlerFunc(withheld)},
	}
}

func withheld(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "the command line is not shown", http.StatusNotFound)
}

// bounded refuses to profile for too long.
func bounded(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text := r.FormValue("seconds"); text != "" {
			if n, err := strconv.ParseFloat(text, 64); err != nil || !(n > 0 && n <= maxProfile.Seconds()) {
				http.Error(w, fmt.Sprintf("seconds must be more than 0 and at most %.0f", maxProfile.Seconds()), http.StatusBadRequest)
				return
			}
		}
		next(w, r)
	})
}
