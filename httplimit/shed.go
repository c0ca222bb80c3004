package httplimit

import (
	"math/rand/v2"
	"net/http"
	"strconv"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/admission"
	"github.com/weirlimit/weir/internal/respond"
	"github.com/weirlimit/weir/shed"
)

// Shed returns middleware that serves as many requests as w has places, lets some
// wait, and sends away what matters least with 503, Retry-After and a body of
// application/problem+json. c says what a request matters; nil goes by the method.
// What is exempt is served in any case.
//
// Put it around everything else, so that what is sent away costs nothing:
//
//	handler := httplimit.Shed(worker, classes)(httplimit.New(limits, httplimit.WithPriorities(classes))(mux))
//
// A request has its place until its handler returns: serve what stays open for
// long, such as websockets, outside of it. Like New it cannot fail: without a
// worker every request is answered with 500.
func Shed(w *shed.Worker, c *shed.Classifier) func(http.Handler) http.Handler {
	key := http.CanonicalHeaderKey(c.Header())
	return func(next http.Handler) http.Handler {
		return &shedder{worker: w, classes: c, key: key, next: next}
	}
}

// WithPriorities gives requests the dimension priority, for policies that match
// it; see docs/load-shedding.md. A dimension of that name of WithDimensions comes
// first. What is exempt is not asked about.
func WithPriorities(classes *shed.Classifier) Option {
	key := http.CanonicalHeaderKey(classes.Header())
	return func(c *config) {
		c.skip = append(c.skip, func(r *http.Request) bool {
			d := described(r, key)
			return classes.Exempt(&d)
		})
		c.ranks = func(r *http.Request) weir.Priority {
			d := described(r, key)
			return classes.Classify(&d)
		}
	}
}

// described is what a classifier looks at. A path that is spelled in a way that
// not everybody reads alike is none.
func described(r *http.Request, key string) shed.Request {
	d := shed.Request{Method: r.Method, Route: r.Pattern}
	if r.URL != nil && admission.Plain(r.URL.RawPath) {
		d.Path = r.URL.Path
	}
	if key != "" {
		d.Header = r.Header[key]
	}
	return d
}

// shedder is one handler behind a worker.
type shedder struct {
	worker  *shed.Worker
	classes *shed.Classifier
	key     string
	next    http.Handler
}

func (s *shedder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.worker == nil {
		http.Error(w, "the load shedder is set up wrongly: worker: is missing", http.StatusInternalServerError)
		return
	}
	d := described(r, s.key)
	if s.classes.Exempt(&d) {
		s.next.ServeHTTP(w, r)
		return
	}
	ticket, why := s.worker.Enter(r.Context(), s.classes.Classify(&d))
	if why != shed.Admitted {
		s.refuse(w)
		return
	}
	defer ticket.Leave()
	s.next.ServeHTTP(w, r)
}

// refuse answers a request that was sent away; whose caller is gone does not
// hear it.
func (s *shedder) refuse(w http.ResponseWriter) {
	d := weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonShed, RetryAfter: s.worker.RetryAfter(), RuleIndex: -1}
	a := respond.To(&d, 0, rand.Int64N)
	w.Header()["Content-Type"] = problemType
	w.Header().Set("Retry-After", strconv.FormatInt(a.Retry, 10))
	w.WriteHeader(a.Status())
	_, _ = w.Write(append(a.AppendProblem(nil), '\n')) // whoever was sent away need not listen
}
