package httplimit

import "net/http"

// serveHeld serves an admitted request with which something is left to do:
// wait before it, or release, refund or charge after it. It takes s over.
func (h *handler) serveHeld(w http.ResponseWriter, r *http.Request, s *state) {
	if err := s.Wait(r.Context()); err != nil {
		// Whose client is gone hears nothing; whose time is up does.
		w.WriteHeader(http.StatusServiceUnavailable)
		s.End(r.Context(), 0)
		return
	}
	if !s.Decision.Allowed() {
		h.deny(w, r, s)
		return
	}
	if h.headers {
		s.setHeaders(w.Header())
	}
	if h.after == nil && h.refund == nil {
		defer s.End(r.Context(), 0)
		h.next.ServeHTTP(w, r)
		return
	}
	rec := &recorder{ResponseWriter: w, panicked: true}
	defer h.finish(r, s, rec)
	h.next.ServeHTTP(rec, r)
	rec.panicked = false
}

// finish is what is left to do after a handler whose response matters, whether
// it returned or panicked.
func (h *handler) finish(r *http.Request, s *state, rec *recorder) {
	s.Release(r.Context())
	status, bytes := rec.result()
	if r.Method == http.MethodHead {
		bytes = 0 // net/http counts what is written, and sends none of it
	}
	units := int64(0)
	switch {
	case h.refund != nil && h.refund(status):
		s.GiveBack()
	case h.after != nil:
		units = h.after(r, status, bytes, rec.Header())
	}
	s.End(r.Context(), units)
}
