package httplimit

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/respond"
)

// deny answers a request that s denies.
func (l *limiter) deny(w http.ResponseWriter, r *http.Request, s *state) {
	a := s.setHeaders(w.Header())
	if l.denial != nil {
		l.denial(w, r, &s.dec)
		return
	}
	s.writeProblem(w, &a)
}

func (s *state) writeProblem(w http.ResponseWriter, a *respond.Answer) {
	w.Header()["Content-Type"] = problemType
	s.body = append(a.AppendProblem(s.body[:0]), '\n')
	w.WriteHeader(a.Status())
	_, _ = w.Write(s.body) // whoever was denied need not listen
}

// problemType is shared by all responses: net/http does not change it.
var problemType = []string{respond.ProblemType}

// attribution is the error of a dimension.
type attribution struct{ err error }

func (a *attribution) Error() string { return "attribute request: " + a.err.Error() }
func (a *attribution) Unwrap() error { return a.err }

// refuses tells whether an error is the request's own: if that passed, a caller
// could choose not to be limited.
func refuses(err error) bool {
	if _, ok := errors.AsType[*attribution](err); ok {
		return !weir.CodeOf(err).Temporary()
	}
	return weir.CodeOf(err) == weir.CodeInvalid && !wantsID(err)
}

// fail tells whether a request without a decision passes, or answers it.
func (l *limiter) fail(w http.ResponseWriter, r *http.Request, err error) (pass bool) {
	l.tell(err)
	switch {
	case refuses(err):
		l.refuse(w, r, err, http.StatusBadRequest)
	case l.closed:
		l.refuse(w, r, err, http.StatusServiceUnavailable)
	default:
		return true
	}
	return false
}

func (l *limiter) tell(err error) {
	if err != nil && l.log != nil {
		l.log(err)
	}
}

// refuse answers an error. What the limiter is busy with is nobody's business
// but its operator's: only the fault of a request is told to who sent it.
func (l *limiter) refuse(w http.ResponseWriter, r *http.Request, err error, status int) {
	if l.onError != nil {
		l.onError(w, r, err)
		return
	}
	if status == http.StatusServiceUnavailable {
		s := l.states.Get().(*state)
		s.dec = weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonDegraded, RetryAfter: weir.Second}
		a := s.setHeaders(w.Header())
		s.writeProblem(w, &a)
		l.states.Put(s)
		return
	}
	detail := ""
	if e, ok := errors.AsType[*weir.Error](err); ok {
		detail = (&weir.Error{Field: e.Field, Message: e.Message}).Error()
	}
	body, _ := json.Marshal(struct { // strings and a number
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail,omitempty"`
	}{"about:blank", http.StatusText(status), status, detail})
	w.Header()["Content-Type"] = problemType
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
