package unary

import (
	"encoding/binary"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/weirlimit/weir/internal/grpcerr"
)

// Call is one call of a method. It is answered exactly once, by Reply or Fail,
// from any goroutine, and not touched afterwards.
type Call interface {
	// Received is when the request came in.
	Received() time.Time
	// Deadline is when the caller stops waiting, zero if it did not say.
	Deadline() time.Time
	// Buffer is empty, and room to append the answer to.
	Buffer() []byte
	// Kept is what Keep was last given by a call that had the same memory, nil for
	// none.
	Kept() any
	// Keep keeps v with the call's memory, for the calls that have it later, or
	// returns false: there is no room.
	Keep(v any) bool
	// Reply answers with a message, which is not kept.
	Reply(msg []byte)
	// Fail answers with a status.
	Fail(code codes.Code, message string)
}

// Method serves one method. Take begins with a call, and returns what is left to
// do for it, nil if that is nothing. msg is valid until Take returns.
type Method interface {
	Take(c Call, msg []byte) Step
}

// Step is what is left to do for a call: Find finds out what it needs, Fetch has the
// memory of that fetched, and Run does it. Those of calls that came together are
// called by turns, so that all wait for their memory at once.
type Step = interface {
	Find()
	Fetch()
	Run()
}

// Serve has m serve one call from beginning to end.
func Serve(m Method, c Call, msg []byte) {
	if s := m.Take(c, msg); s != nil {
		s.Find()
		s.Fetch()
		s.Run()
	}
}

// Refuse answers with an error of weir's.
func Refuse(c Call, err error) {
	code, message := grpcerr.Split(err)
	c.Fail(code, message)
}

// RefuseMessage answers a request that could not be decoded.
func RefuseMessage(c Call, err error) {
	c.Fail(codes.Internal, "grpc: error unmarshalling request: "+err.Error())
}

// broken answers a call in whose answering something panicked. Who recovers the
// panic counts it, but knows no caller.
func broken(c Call) { c.Fail(codes.Internal, "a panic was recovered") }

// MaxKept is how long a request may be for the memory of its call to be used
// again.
const MaxKept = 8 << 10

// Answer is what a method has to say in the end.
type Answer interface {
	// Append appends the message to b, given what went wrong; or it returns an
	// error, which is then the answer.
	Append(b []byte, err error) ([]byte, error)
}

// conclude answers c. Whoever calls back recovers a panic, and nobody would
// answer then: it is answered here, and goes on.
func conclude(c Call, a Answer, err error) {
	answering := false
	defer func() {
		if p := recover(); p != nil {
			if !answering {
				broken(c)
			}
			panic(p)
		}
	}()
	b, err := a.Append(c.Buffer(), err)
	answering = true
	if err != nil {
		Refuse(c, err)
		return
	}
	c.Reply(b)
}

// Same tells whether two messages are the same. What tells requests apart most
// often, the value of their last entry, is looked at first.
func Same(a, b []byte) bool {
	n := len(a)
	if n != len(b) || n >= 8 && binary.LittleEndian.Uint64(a[n-8:]) != binary.LittleEndian.Uint64(b[n-8:]) {
		return false
	}
	return string(a) == string(b)
}
