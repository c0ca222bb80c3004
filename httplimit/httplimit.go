package httplimit

import (
	"net/http"
	"sync"

	"github.com/weirlimit/weir"
)

// New returns middleware that asks c about every request. It cannot fail: what
// can be wrong about its arguments is a nil, and then every request is answered
// with 500, because a limiter that silently is none is worse.
func New(c weir.Checker, opts ...Option) func(http.Handler) http.Handler {
	l := newLimiter(c, opts)
	return func(next http.Handler) http.Handler { return &handler{limiter: l, next: next} }
}

// limiter is what the handlers of one New share.
type limiter struct {
	config
	checker  weir.Checker
	async    weir.AsyncChecker // checker, or nil
	releaser weir.Releaser     // checker, or nil
	ids      ids
	states   sync.Pool
}

func newLimiter(c weir.Checker, opts []Option) *limiter {
	l := &limiter{config: defaults(), checker: c, ids: newIDs()}
	if c == nil {
		l.wrong = invalid("checker", "is missing", "for example what embedded.Open returns")
	}
	for _, o := range opts {
		if o == nil {
			l.wrong = invalid("option", "is nil", "leave it out")
			continue
		}
		o(&l.config)
	}
	l.async, _ = c.(weir.AsyncChecker)
	l.releaser, _ = c.(weir.Releaser)
	l.states.New = func() any { return newState(l) }
	return l
}

// handler is one handler with its limits.
type handler struct {
	*limiter
	next http.Handler
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.wrong != nil {
		h.refuse(w, r, h.wrong, http.StatusInternalServerError)
		return
	}
	for _, skip := range h.skip {
		if skip(r) {
			h.next.ServeHTTP(w, r)
			return
		}
	}
	s := h.states.Get().(*state)
	if err := h.ask(s, r); err != nil {
		h.states.Put(s)
		if h.fail(w, r, err) {
			h.next.ServeHTTP(w, r)
		}
		return
	}
	switch {
	case !s.dec.Allowed():
		h.deny(w, r, s)
		h.states.Put(s)
	case s.dec.Delay > 0, s.holds, h.after != nil, h.refund != nil:
		h.serveHeld(w, r, s)
	default:
		if h.headers {
			s.setHeaders(w.Header())
		}
		h.states.Put(s)
		h.next.ServeHTTP(w, r)
	}
}

func invalid(field, message, hint string) *weir.Error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: message, Hint: hint}
}
