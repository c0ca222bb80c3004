package httpapi

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/httperr"
	"github.com/weirlimit/weir/internal/respond"
)

// Engine is what the handlers ask.
type Engine interface {
	weir.Checker
	weir.Releaser
}

// Handler serves /v1/check and /v1/release.
type Handler struct {
	engine Engine
	mux    http.ServeMux
}

// New returns a handler that asks e.
func New(e Engine) *Handler {
	h := &Handler{engine: e}
	h.mux.HandleFunc("POST /v1/check", h.check)
	h.mux.HandleFunc("POST /v1/release", h.release)
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

func (h *Handler) check(w http.ResponseWriter, r *http.Request) {
	req, ok := decode(w, r)
	if !ok {
		return
	}
	var d weir.Decision
	if err := h.engine.Check(r.Context(), req, &d); err != nil {
		httperr.Write(w, err)
		return
	}
	a := respond.To(&d, weir.MicrosAt(time.Now()), rand.Int64N)
	var f respond.Fields
	f.Fill(&a)
	f.Set(w.Header())
	if d.Allowed() {
		httperr.JSON(w, http.StatusOK, response(&d))
		return
	}
	w.Header().Set("Content-Type", respond.ProblemType)
	w.WriteHeader(a.Status())
	_, _ = w.Write(append(a.AppendProblem(nil), '\n'))
}

func (h *Handler) release(w http.ResponseWriter, r *http.Request) {
	req, ok := decode(w, r)
	if !ok {
		return
	}
	if req.ID == "" {
		httperr.Write(w, invalid("request_id", "is empty: what is held is released by it"))
		return
	}
	released, version, err := h.engine.Release(r.Context(), req)
	if err != nil {
		httperr.Write(w, err)
		return
	}
	httperr.JSON(w, http.StatusOK, map[string]any{"released": released, "policy_version": version})
}

// decode reads a request, or answers what is wrong with it.
func decode(w http.ResponseWriter, r *http.Request) (*weir.Request, bool) {
	var in checkRequest
	if err := read(w, r, &in); err != nil {
		httperr.Write(w, err)
		return nil, false
	}
	req, err := in.request(time.Now())
	if err != nil {
		httperr.Write(w, err)
		return nil, false
	}
	return req, true
}
