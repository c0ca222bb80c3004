package redisstore

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/redis/rueidis"

	"github.com/weirlimit/weir"
)

// notSentError wraps a failure that happened before a byte of the command left
// this process: the command has not run and may be tried again.
type notSentError struct{ err error }

func (e *notSentError) Error() string { return e.err.Error() }
func (e *notSentError) Unwrap() error { return e.err }

// replyCodes maps the first word of a Redis error to a code, and says whether
// it proves that the command did not run.
var replyCodes = []struct {
	word  string
	code  weir.Code
	unrun bool // refused before it ran, and worth another attempt
}{
	{"MOVED", weir.CodeMoved, true},
	{"ASK", weir.CodeMoved, true},
	{"TRYAGAIN", weir.CodeTryAgain, true},
	{"CLUSTERDOWN", weir.CodeClusterDown, true},
	{"LOADING", weir.CodeLoading, true},
	{"MASTERDOWN", weir.CodeLoading, true},
	{"NOSCRIPT", weir.CodeLoading, true}, // flushed again as soon as it was loaded
	{"READONLY", weir.CodeReadOnly, true},
	{"BUSY", weir.CodeTimeout, true},
	{"NOAUTH", weir.CodeNoAuth, false},
	{"WRONGPASS", weir.CodeNoAuth, false},
	{"NOPERM", weir.CodeNoPerm, false},
	{"OOM", weir.CodeOOM, false},
	{"MISCONF", weir.CodeReadOnly, false},
	{"NOREPLICAS", weir.CodeReadOnly, false},
	{"CROSSSLOT", weir.CodeProtocol, false},
}

// classify turns any error of a round trip into an *weir.Error, and tells
// whether the command certainly did not run and may be sent again.
func classify(err error) (_ *weir.Error, again bool) {
	if e, ok := errors.AsType[*weir.Error](err); ok {
		_, unsent := errors.AsType[*notSentError](err)
		return e, unsent && e.Code.Temporary()
	}
	if text, ok := replyText(err); ok {
		return classifyReply(text)
	}
	_, unsent := errors.AsType[*notSentError](err)
	out := &weir.Error{Code: transportCode(err), Message: "redis", Err: err}
	if out.Code == weir.CodeRefused {
		out.Hint = "is redis running and reachable?"
	}
	return out, unsent
}

// replyText is what the server answered, if err is an error of it.
func replyText(err error) (text string, ok bool) {
	if err == nil {
		return "", false
	}
	if re, ok := errors.AsType[replyError](err); ok {
		return string(re), true
	}
	if re, ok := errors.AsType[*rueidis.RedisError](err); ok {
		return re.Error(), true
	}
	return "", false
}

func classifyReply(text string) (*weir.Error, bool) {
	word, _, _ := strings.Cut(text, " ")
	for _, rc := range replyCodes {
		if word == rc.word || rc.unrun && strings.Contains(text, " "+rc.word+" ") {
			return &weir.Error{Code: rc.code, Message: "redis: " + text, Hint: hints[rc.code]}, rc.unrun
		}
	}
	code := weir.CodeProtocol
	switch {
	case strings.Contains(text, "NOPERM"), strings.Contains(text, "permission"),
		strings.Contains(text, "user executing the script can't"):
		code = weir.CodeNoPerm
	case strings.Contains(text, "cluster is down"):
		return &weir.Error{Code: weir.CodeClusterDown, Message: "redis: " + text, Hint: hints[weir.CodeClusterDown]}, true
	}
	return &weir.Error{Code: code, Message: "redis: " + text, Hint: hints[code]}, false
}

var hints = map[weir.Code]string{
	weir.CodeNoAuth:      "check the user and password; a rotated password is read anew on the next connection",
	weir.CodeNoPerm:      "docs/redis.md gives the ACL rule that is needed",
	weir.CodeReadOnly:    "the server is a replica or refuses writes",
	weir.CodeOOM:         "raise maxmemory; an evicting policy would lose counters",
	weir.CodeBreaker:     "it is tried again by itself; see weir_store_errors_total",
	weir.CodeClusterDown: "set cluster-require-full-coverage no, and check the nodes",
}

func transportCode(err error) weir.Code {
	var ne net.Error
	switch {
	case errors.Is(err, rueidis.ErrClosing):
		return weir.CodeClosed
	case errors.Is(err, context.Canceled):
		return weir.CodeCanceled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &ne) && ne.Timeout():
		return weir.CodeTimeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return weir.CodeRefused
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return weir.CodeRefused
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return weir.CodeRefused
	}
	return weir.CodeProtocol
}

func leftError() *weir.Error {
	return &weir.Error{Code: weir.CodeMoved, Message: "the node left the cluster"}
}

func closedError() *weir.Error {
	return &weir.Error{Code: weir.CodeClosed, Message: "the store is closed"}
}

// slowError is why a breaker opens on answers that were too late.
var slowError = timeoutError(nil)

func timeoutError(cause *weir.Error) *weir.Error {
	if cause != nil {
		return cause
	}
	return &weir.Error{Code: weir.CodeTimeout, Message: "redis did not answer by the deadline"}
}
