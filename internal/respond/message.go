package respond

import (
	"strconv"

	"github.com/weirlimit/weir"
)

// Code names an answer in one word that programs may compare: ok,
// rate_limited (a wait helps), never (none does), unavailable (nothing could be
// decided), shed (the service has no room), undecided.
func (a *Answer) Code() string {
	switch {
	case a.Decision.Verdict == weir.Allow:
		return "ok"
	case a.Decision.Verdict != weir.Deny:
		return "undecided"
	case a.Decision.Reason == weir.ReasonDegraded:
		return "unavailable"
	case a.Decision.Reason == weir.ReasonShed:
		return "shed"
	case a.Decision.RetryAfter == weir.Never:
		return "never"
	}
	return "rate_limited"
}

// AppendMessage appends why, in a sentence for a person, without a full stop:
//
//	limit 100/s burst 200 of api is used up; retry after 3 s
func (a *Answer) AppendMessage(dst []byte) []byte { return a.appendMessage(dst, false) }

// appendMessage is AppendMessage; quoted, what a quotation cannot hold is
// escaped.
func (a *Answer) appendMessage(dst []byte, quoted bool) []byte {
	d := a.Decision
	switch a.Code() {
	case "ok":
		return append(dst, "allowed"...)
	case "undecided":
		return append(dst, "no decision was made"...)
	case "unavailable":
		dst = append(dst, "the limiter cannot decide now"...)
	case "shed":
		dst = append(dst, "the service has no room for this request now"...)
	case "never":
		return a.appendNever(dst, quoted)
	default:
		dst = a.appendLimit(dst, quoted)
		if d.Remaining > 0 {
			dst = strconv.AppendInt(append(dst, " has only "...), d.Remaining, 10)
			dst = append(dst, " left"...)
		} else {
			dst = append(dst, " is used up"...)
		}
	}
	if a.Retry == 0 {
		return dst
	}
	dst = strconv.AppendInt(append(dst, "; retry after "...), a.Retry, 10)
	return append(dst, " s"...)
}

// appendNever says why no wait helps: the cost, or a limit of nothing.
func (a *Answer) appendNever(dst []byte, quoted bool) []byte {
	if a.Decision.Limit.Count == 0 {
		dst = appendText(append(dst, "policy "...), a.Decision.Rule, quoted)
		return append(dst, " admits nothing: the request can never pass"...)
	}
	dst = a.appendLimit(append(dst, "the request costs more than "...), quoted)
	return append(dst, " ever holds: it can never pass"...)
}

// appendLimit appends a limit as policies write it, and its policy.
func (a *Answer) appendLimit(dst []byte, quoted bool) []byte {
	l := &a.Decision.Limit
	dst = append(dst, "limit"...)
	if l.Count > 0 {
		dst = strconv.AppendInt(append(dst, ' '), l.Count, 10)
		if l.Algorithm == weir.Concurrency {
			dst = append(dst, " at a time"...)
		} else {
			dst = appendWindow(append(dst, '/'), l.Window, true)
		}
		if most := l.Capacity(); most != l.Count {
			dst = strconv.AppendInt(append(dst, " burst "...), most, 10)
		}
	}
	if a.Decision.Rule == "" {
		return dst
	}
	return appendText(append(dst, " of "...), a.Decision.Rule, quoted)
}
