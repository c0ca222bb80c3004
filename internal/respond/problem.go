package respond

import (
	"strconv"

	"github.com/weirlimit/weir"
)

// ProblemType is the media type of AppendProblem's body.
const ProblemType = "application/problem+json"

// The kinds of problem: those that the draft has registered, and none in
// particular for what is a fault of ours.
const (
	quotaExceeded   = `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded"`
	reducedCapacity = `{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity","title":"Temporarily reduced capacity"`
	undecided       = `{"type":"about:blank","title":"Internal Server Error"`
)

// AppendProblem appends the body of an answer that is no admission: a problem
// of RFC 9457, of type ProblemType, with a member error for clients that look
// for one. What is not known, or does not exist, is null: the retry_after of a
// request that can never pass, the window of a limit of concurrency.
func (a *Answer) AppendProblem(dst []byte) []byte {
	status := a.Status()
	switch status {
	case statusTooMany:
		dst = append(dst, quotaExceeded...)
	case statusUnavailable:
		dst = append(dst, reducedCapacity...)
	default:
		dst = append(dst, undecided...)
	}
	dst = strconv.AppendInt(append(dst, `,"status":`...), int64(status), 10)
	dst = append(a.appendMessage(append(dst, `,"detail":"`...), true), '"')
	dst = append(a.appendViolated(append(dst, `,"violated-policies":[`...)), ']')
	return append(a.appendError(append(dst, `,"error":`...)), '}')
}

// appendViolated appends the names of the policies that the request met and
// does not fit, the same way RateLimit-Policy names them.
func (a *Answer) appendViolated(dst []byte) []byte {
	d, start := a.Decision, len(dst)
	for i := range d.Charges {
		c := &d.Charges[i]
		if !shown(c) || c.Outcome.OK || a.violatedBefore(i) {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(a.appendName(append(dst, '"'), c.Rule, &c.Limit, true), '"')
	}
	if len(dst) == start && d.Rule != "" {
		dst = append(a.appendName(append(dst, '"'), d.Rule, &d.Limit, true), '"')
	}
	return dst
}

// violatedBefore tells whether an earlier charge already named this policy.
func (a *Answer) violatedBefore(i int) bool {
	charges := a.Decision.Charges
	for j := range i {
		c := &charges[j]
		if shown(c) && !c.Outcome.OK && c.Rule == charges[i].Rule && c.Limit == charges[i].Limit {
			return true
		}
	}
	return false
}

func (a *Answer) appendError(dst []byte) []byte {
	l := &a.Decision.Limit
	dst = append(append(append(dst, `{"code":"`...), a.Code()...), '"')
	dst = append(a.appendMessage(append(dst, `,"message":"`...), true), '"')
	dst = appendNumber(append(dst, `,"retry_after":`...), a.Retry)
	dst = appendNumber(append(dst, `,"limit":`...), l.Count)
	dst = append(dst, `,"window":`...)
	if l.Window == 0 || l.Algorithm == weir.Concurrency {
		dst = append(dst, "null"...)
	} else {
		dst = append(appendWindow(append(dst, '"'), l.Window, false), '"')
	}
	dst = append(dst, `,"scope":`...)
	if a.Scope == "" {
		return append(dst, "null}"...)
	}
	return append(appendText(append(dst, '"'), a.Scope, true), `"}`...)
}

// appendNumber appends n, and null for 0: none of the numbers here can be 0.
func appendNumber(dst []byte, n int64) []byte {
	if n == 0 {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, n, 10)
}
