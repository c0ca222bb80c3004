package unarytest

import (
	"time"

	"google.golang.org/grpc/codes"

	"github.com/weirlimit/weir/internal/unary"
)

// Bare is a call that costs nothing: it is used again and again, to count
// allocations and to measure.
type Bare struct {
	At      time.Time // when it was received
	Message []byte    // the last answer, until the next
	Code    codes.Code
	buffer  [1024]byte
	kept    any
}

var _ unary.Call = (*Bare)(nil)

// Received implements unary.Call.
func (b *Bare) Received() time.Time { return b.At }

// Deadline implements unary.Call.
func (*Bare) Deadline() time.Time { return time.Time{} }

// Buffer implements unary.Call.
func (b *Bare) Buffer() []byte { return b.buffer[:0] }

// Kept implements unary.Call.
func (b *Bare) Kept() any { return b.kept }

// Keep implements unary.Call.
func (b *Bare) Keep(v any) bool {
	b.kept = v
	return true
}

// Reply implements unary.Call.
func (b *Bare) Reply(msg []byte) { b.Message, b.Code = msg, codes.OK }

// Fail implements unary.Call.
func (b *Bare) Fail(code codes.Code, _ string) { b.Message, b.Code = nil, code }
