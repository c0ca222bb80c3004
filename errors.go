package weir

import (
	"errors"
	"fmt"
)

// Code classifies an error for edges (which map it to gRPC and HTTP), for
// metrics (a bounded label) and for breakers.
type Code uint8

// The codes. Those from CodeTimeout on are a store's; their names are what a
// metric's reason label says.
const (
	CodeInternal       Code = iota // a bug, or an answer no other code fits
	CodeInvalid                    // the caller's input; Field says which
	CodePolicyNotFound             // the named policy does not exist
	CodeNotReady                   // no policies are loaded yet
	CodeCanceled                   // the caller gave up
	CodeClosed                     // the store was closed
	CodeOverload                   // the store's queue is full; nothing was sent
	CodeTimeout                    // the deadline passed
	CodeRefused                    // no connection, or it broke
	CodeReadOnly                   // the server is a replica
	CodeMoved                      // the slot is elsewhere and could not be followed
	CodeTryAgain                   // the slot is being moved
	CodeLoading                    // the server is loading its data
	CodeNoAuth                     // wrong or missing credentials
	CodeNoPerm                     // the ACL user may not do this
	CodeClusterDown                // the cluster does not serve the slot
	CodeOOM                        // the server is at maxmemory
	CodeProtocol                   // an answer that is not understood
	CodeBreaker                    // the shard's breaker is open; nothing was sent

	codes
)

var codeNames = [codes]string{
	"internal", "invalid", "policy_not_found", "not_ready", "canceled", "closed", "overload",
	"timeout", "refused", "readonly", "moved", "tryagain", "loading", "noauth",
	"noperm", "clusterdown", "oom", "protocol", "breaker",
}

func (c Code) String() string {
	if int(c) >= len(codeNames) {
		return "internal"
	}
	return codeNames[c]
}

// Temporary tells whether the same call may succeed later with nothing changed
// by an operator.
func (c Code) Temporary() bool {
	switch c {
	case CodeNotReady, CodeOverload, CodeTimeout, CodeRefused, CodeReadOnly, CodeMoved, CodeTryAgain, CodeLoading, CodeClusterDown, CodeBreaker:
		return true
	}
	return false
}

// Error is the one error type of Weir. The zero Code is CodeInternal.
type Error struct {
	Code    Code
	Field   string // the input field at fault, for CodeInvalid
	Message string
	Hint    string // what to do next, for a person
	Err     error  // the cause, or nil
}

func (e *Error) Error() string {
	s := e.Message
	if e.Field != "" {
		s = e.Field + ": " + s
	}
	if e.Err != nil {
		if s != "" {
			s += ": "
		}
		s += e.Err.Error()
	}
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is(err, &Error{Code: c}) match any error of that code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Field == "" && t.Message == "" && t.Err == nil
}

// CodeOf returns the code of err: that of the *Error in its chain, else
// CodeInternal.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

func invalid(field, format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) withHint(hint string) *Error {
	e.Hint = hint
	return e
}
