package grpclimit

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

var _ grpc.UnaryServerInterceptor = (&Limiter{}).Unary

// Unary is a grpc.UnaryServerInterceptor.
func (l *Limiter) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if l.wrong != nil {
		return nil, l.misconfigured()
	}
	c := &Call{Method: info.FullMethod, Message: req}
	if l.skips(ctx, c) {
		return handler(ctx, req)
	}
	p := l.passes.Get().(*pass)
	set := func(md metadata.MD) error { return grpc.SetHeader(ctx, md) }
	if err := p.admit(ctx, c, set); err != nil {
		return nil, err
	}
	if l.after == nil && l.refund == nil {
		defer p.End(ctx, 0)
		return handler(ctx, req)
	}
	return p.measured(ctx, c, handler)
}

// admit asks about a call, sets the header fields, and returns the error that
// ends it, nil when it may go on. What does not go on has come to its End, also
// when code of others panics.
func (p *pass) admit(ctx context.Context, c *Call, set func(metadata.MD) error) error {
	if err := p.enter(ctx, c); err != nil {
		p.End(ctx, 0)
		return refused(err)
	}
	if p.Decision.Allowed() {
		if p.limiter.headers {
			p.limiter.gate.Tell(set(p.header(0)))
		}
		return nil
	}
	defer p.End(ctx, 0)
	retry := jittered(&p.Decision)
	p.limiter.gate.Tell(set(p.header(retry)))
	return p.limiter.denied(ctx, c, &p.Decision, retry)
}

// measured runs a handler whose result matters.
func (p *pass) measured(ctx context.Context, c *Call, handler grpc.UnaryHandler) (resp any, err error) {
	r := &Result{Err: errPanicked, Received: size(c.Message)}
	defer func() { p.finish(ctx, c, r) }()
	inner := ctx
	if s := grpc.ServerTransportStreamFromContext(ctx); s != nil {
		inner = grpc.NewContextWithServerTransportStream(ctx, &trailed{s, r})
	}
	resp, err = handler(inner, c.Message)
	r.Err = err
	if err == nil {
		r.Sent = size(resp)
	}
	return resp, err
}

// errPanicked is the result of a handler that did not return.
var errPanicked = status.Error(codes.Internal, "the handler panicked")

// trailed notes what a handler puts into the trailer.
type trailed struct {
	grpc.ServerTransportStream
	result *Result
}

func (t *trailed) SetTrailer(md metadata.MD) error {
	t.result.Trailer = metadata.Join(t.result.Trailer, md)
	return t.ServerTransportStream.SetTrailer(md)
}

func size(message any) int64 {
	if m, ok := message.(proto.Message); ok {
		return int64(proto.Size(m))
	}
	return 0
}
