package grpclimit

import (
	"context"

	"google.golang.org/grpc/metadata"

	"github.com/weirlimit/weir"
)

// Call is a call that is asked about. It is not to be kept.
type Call struct {
	// Method is the full method, such as /shop.v1.Orders/Place.
	Method string
	// Message is the request of a unary call; nil for a stream, which has
	// received nothing yet.
	Message any
	// Stream: the call is one, of either side.
	Stream bool
}

// Result is how a call went, for costs that are known afterwards.
type Result struct {
	Err error // what the handler returned; nil is success
	// Received and Sent are the sizes of messages in bytes, as protobuf encodes
	// them, before compression. Messages of other kinds count nothing.
	Received, Sent int64
	// Trailer is what the handler put into it.
	Trailer metadata.MD
}

// Dimensions appends what tells calls apart to dst, such as tenant=acme. An
// error ends the call with INVALID_ARGUMENT, unless it is a *weir.Error whose
// code is temporary: that is a checker which cannot decide.
type Dimensions func(ctx context.Context, c *Call, dst []weir.Pair) ([]weir.Pair, error)
