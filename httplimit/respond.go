package httplimit

import (
	"encoding/json"
	"net/http"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/admission"
	"github.com/weirlimit/weir/internal/respond"
)

// deny answers a request that s denies, and ends it, also when code of others
// does not return.
func (l *limiter) deny(w http.ResponseWriter, r *http.Request, s *state) {
	defer s.End(r.Context(), 0)
	a := s.setHeaders(w.Header())
	if l.denial != nil {
		l.denial(w, r, &s.Decision)
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

// fail tells whether a request without a decision passes, or answers it and
// ends it, also when code of others does not return.
func (l *limiter) fail(w http.ResponseWriter, r *http.Request, s *state, err error) (pass bool) {
	status := http.StatusServiceUnavailable
	switch refusal := s.Undecided(r.Context(), err); {
	case refusal != nil && !admission.Gone(refusal):
		status = http.StatusBadRequest
	case refusal == nil && s.Decision.Allowed():
		return true
	}
	defer s.End(r.Context(), 0)
	l.refuse(w, r, err, status)
	return false
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
		s.Decision = weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonDegraded, RetryAfter: weir.Second}
		a := s.setHeaders(w.Header())
		s.writeProblem(w, &a)
		l.states.Put(s)
		return
	}
	body, _ := json.Marshal(struct { // strings and a number
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail,omitempty"`
	}{"about:blank", http.StatusText(status), status, admission.Fault(err)})
	w.Header()["Content-Type"] = problemType
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
