package admin

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/weirlimit/weir"
)

// livez answers as long as the process can. It looks at nothing: a process that
// is restarted because its store is away has helped nobody.
func livez(w http.ResponseWriter, _ *http.Request) {
	plain(w)
	say(w, "ok\n")
}

func readyz(h *Health) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s := h.Status()
		status := http.StatusOK
		if !s.Ready {
			status = http.StatusServiceUnavailable
		}
		writeJSON(w, status, s)
	})
}

// Healthcheck answers as envoyproxy/ratelimit's page of this name does, which
// it serves beside its HTTP API: OK, or status 500.
func Healthcheck(h *Health) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		plain(w)
		if s := h.State(); s != Ready {
			w.WriteHeader(http.StatusInternalServerError)
			say(w, s.String())
			return
		}
		say(w, "OK")
	})
}

// document serves a text, whole or not at all.
func document(write func(io.Writer) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var body strings.Builder
		if err := write(&body); err != nil {
			status := http.StatusInternalServerError
			if weir.CodeOf(err) == weir.CodeNotReady {
				status = http.StatusServiceUnavailable
			}
			http.Error(w, err.Error(), status)
			return
		}
		plain(w)
		say(w, body.String())
	})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		http.Error(w, "encode: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	say(w, string(body)+"\n")
}
