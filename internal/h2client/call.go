package h2client

import (
	"strconv"
	"time"
)

// Call is one request: its number among all, and when it was due. Instants are
// those of Options.Clock.
type Call struct {
	N   int64
	Due time.Duration
}

// Failure says why a call has no answer. The zero value is none.
type Failure uint8

const (
	OK       Failure = iota
	Status           // the server answered with a grpc-status other than 0, or an HTTP status other than 200
	Timeout          // no answer in time
	Broken           // the connection broke, or could not be made
	Refused          // the server did not take the call: GOAWAY or REFUSED_STREAM
	Reset            // the server reset the stream
	Protocol         // the answer was none: no message, a compressed one, too much
	Closed           // the client was closed first
	Failures         // how many there are
)

var failureNames = [Failures]string{"ok", "status", "timeout", "broken", "refused", "reset", "protocol", "closed"}

// String implements fmt.Stringer.
func (f Failure) String() string {
	if f < Failures {
		return failureNames[f]
	}
	return "failure(" + strconv.Itoa(int(f)) + ")"
}

// Answer is what became of a call.
type Answer struct {
	Call
	Line    int // of the client's connections
	Now     time.Duration
	Failure Failure
	Verdict uint8 // what Options.Judge said of the message
	// Code and Detail are of a failure: the grpc-status or HTTP status, or the
	// code of a reset, and what was said.
	Code   int
	Detail string
}
