package httplimit

import (
	"net/http"
	"sync"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/admission"
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
	gate   *admission.Gate
	states sync.Pool
}

func newLimiter(c weir.Checker, opts []Option) *limiter {
	l := &limiter{config: defaults()}
	if c == nil {
		l.wrong = admission.Invalid("checker", "is missing", "for example what embedded.Open returns")
	}
	for _, o := range opts {
		if o == nil {
			l.wrong = admission.Invalid("option", "is nil", "leave it out")
			continue
		}
		o(&l.config)
	}
	l.gate = admission.NewGate(c, l.Settings)
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
	if err := h.ask(s, r); err != nil && !h.fail(w, r, s, err) {
		return
	}
	switch {
	case !s.Decision.Allowed():
		h.deny(w, r, s)
	case s.Decision.Delay > 0, s.Holds(), h.after != nil, h.refund != nil:
		h.serveHeld(w, r, s)
	default:
		if h.headers {
			s.setHeaders(w.Header())
		}
		h.states.Put(s)
		h.next.ServeHTTP(w, r)
	}
}
