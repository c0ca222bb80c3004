package unarytest

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/weirlimit/weir/internal/unary"
)

// Conn is a connection to methods, for generated clients.
type Conn struct {
	t       testing.TB
	methods map[string]unary.Method
}

var _ grpc.ClientConnInterface = (*Conn)(nil)

// Dial returns a connection to methods, by their paths.
func Dial(t testing.TB, methods map[string]unary.Method) *Conn { return &Conn{t, methods} }

// Invoke implements grpc.ClientConnInterface.
func (c *Conn) Invoke(ctx context.Context, method string, in, out any, _ ...grpc.CallOption) error {
	m := c.methods[method]
	if m == nil {
		return status.Error(codes.Unimplemented, method)
	}
	msg, err := proto.Marshal(in.(proto.Message))
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	answer, err := c.Send(ctx, m, msg)
	if err != nil {
		return err
	}
	return proto.Unmarshal(answer, out.(proto.Message))
}

// NewStream implements grpc.ClientConnInterface: there are none.
func (*Conn) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "a unary method is no stream")
}

// Send sends the bytes of a message, whatever they are, and returns those of the
// answer, or its status.
func (c *Conn) Send(ctx context.Context, m unary.Method, msg []byte) ([]byte, error) {
	call := &Call{t: c.t, answered: make(chan struct{})}
	call.deadline, _ = ctx.Deadline()
	own := append([]byte(nil), msg...)
	step := m.Take(call, own)
	for i := range own {
		own[i] ^= 0xff // it was valid until now
	}
	if step != nil {
		step.Find()
		step.Fetch()
		step.Run()
	}
	select {
	case <-call.answered:
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	case <-time.After(20 * time.Second):
		c.t.Error("unarytest: a call was not answered")
		return nil, status.Error(codes.DeadlineExceeded, "not answered")
	}
	return call.message, call.err
}

// Call is one call of a Conn.
type Call struct {
	t        testing.TB
	deadline time.Time
	buffer   []byte
	message  []byte
	err      error
	answered chan struct{}
}

var _ unary.Call = (*Call)(nil)

// Received implements unary.Call.
func (c *Call) Received() time.Time { return time.Now() }

// Deadline implements unary.Call.
func (c *Call) Deadline() time.Time { return c.deadline }

// Buffer implements unary.Call.
func (c *Call) Buffer() []byte {
	c.buffer = make([]byte, 0, 16)
	return c.buffer
}

// Kept implements unary.Call: nothing is.
func (*Call) Kept() any { return nil }

// Keep implements unary.Call.
func (*Call) Keep(any) bool { return false }

// Reply implements unary.Call.
func (c *Call) Reply(msg []byte) {
	c.message = append([]byte{}, msg...)
	for i := range msg {
		msg[i] ^= 0xff
	}
	c.finish()
}

// Fail implements unary.Call.
func (c *Call) Fail(code codes.Code, message string) {
	c.err = status.Error(code, message)
	c.finish()
}

func (c *Call) finish() {
	select {
	case <-c.answered:
		c.t.Error("unarytest: a call was answered twice")
	default:
		close(c.answered)
	}
}
