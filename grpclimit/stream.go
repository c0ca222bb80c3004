package grpclimit

import (
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/weirlimit/weir"
)

var _ grpc.StreamServerInterceptor = (&Limiter{}).Stream

// Stream is a grpc.StreamServerInterceptor.
func (l *Limiter) Stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if l.wrong != nil {
		return l.misconfigured()
	}
	ctx := ss.Context()
	c := &Call{Method: info.FullMethod, Stream: true}
	if l.skips(ctx, c) {
		return handler(srv, ss)
	}
	p := l.passes.Get().(*pass)
	if err := p.admit(ctx, c, ss.SetHeader); err != nil {
		return err
	}
	if l.after == nil && l.refund == nil && l.message == nil {
		defer p.End(ctx, 0)
		return handler(srv, ss)
	}
	m := &measuredStream{ServerStream: ss, pass: p, call: c}
	m.mu.result.Err = errPanicked
	defer func() { p.finish(ctx, c, m.result()) }()
	err := handler(srv, m)
	m.mu.Lock()
	m.mu.result.Err = err
	m.mu.Unlock()
	return err
}

// measuredStream notes what goes over a stream, and charges what comes in. One
// goroutine may send while another receives.
type measuredStream struct {
	grpc.ServerStream
	pass *pass
	call *Call
	dec  weir.Decision // of messages; the receiver's

	mu struct {
		sync.Mutex
		result Result
	}
}

func (m *measuredStream) result() *Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.mu.result
	return &r
}

func (m *measuredStream) SendMsg(message any) error {
	err := m.ServerStream.SendMsg(message)
	if err == nil {
		m.mu.Lock()
		m.mu.result.Sent += size(message)
		m.mu.Unlock()
	}
	return err
}

func (m *measuredStream) SetTrailer(md metadata.MD) {
	m.mu.Lock()
	m.mu.result.Trailer = metadata.Join(m.mu.result.Trailer, md)
	m.mu.Unlock()
	m.ServerStream.SetTrailer(md)
}

func (m *measuredStream) RecvMsg(message any) error {
	if err := m.ServerStream.RecvMsg(message); err != nil {
		return err
	}
	m.mu.Lock()
	m.mu.result.Received += size(message)
	m.mu.Unlock()
	if m.pass.limiter.message == nil {
		return nil
	}
	return m.charge(message)
}

// charge charges a message that was received, and returns the error that ends
// the stream when it did not fit.
func (m *measuredStream) charge(message any) error {
	l, ctx := m.pass.limiter, m.Context()
	cost := l.message(ctx, m.call, message)
	if cost <= 0 {
		return nil
	}
	if err := m.pass.Spend(ctx, cost, &m.dec); err != nil {
		return refused(err)
	}
	if m.dec.Allowed() {
		return nil
	}
	return l.denied(ctx, m.call, &m.dec, jittered(&m.dec))
}
