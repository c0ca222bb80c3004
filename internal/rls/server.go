package rls

import (
	"context"
	"sync"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/grpcerr"
)

// Options configures a Server.
type Options struct {
	Compat   bool // limits that come with requests count in fixed windows
	Metadata bool // answer with the rules' metadata
	Headers  Headers
}

// Headers are the response headers that Envoy is told to add.
type Headers struct {
	Enabled                 bool
	Limit, Remaining, Reset string
}

// DefaultHeaders are the names that envoyproxy/ratelimit uses.
var DefaultHeaders = Headers{Limit: "RateLimit-Limit", Remaining: "RateLimit-Remaining", Reset: "RateLimit-Reset"}

// Server answers envoy.service.ratelimit.v3.RateLimitService.
type Server struct {
	pb.UnimplementedRateLimitServiceServer
	checker   weir.Checker
	opts      Options
	overrides overrides
	scratch   sync.Pool
}

var _ pb.RateLimitServiceServer = (*Server)(nil)

// New returns a server that asks checker.
func New(checker weir.Checker, o Options) *Server {
	if o.Headers.Limit == "" {
		o.Headers.Limit = DefaultHeaders.Limit
	}
	if o.Headers.Remaining == "" {
		o.Headers.Remaining = DefaultHeaders.Remaining
	}
	if o.Headers.Reset == "" {
		o.Headers.Reset = DefaultHeaders.Reset
	}
	s := &Server{checker: checker, opts: o}
	s.scratch.New = func() any { return new(exchange) }
	return s
}

// exchange is the memory of one request.
type exchange struct {
	in  asked
	req weir.Request
	dec weir.Decision
}

// ShouldRateLimit implements the service.
func (s *Server) ShouldRateLimit(ctx context.Context, in *pb.RateLimitRequest) (*pb.RateLimitResponse, error) {
	out, err := s.decide(ctx, in)
	if err != nil {
		return nil, grpcerr.Status(err)
	}
	return out, nil
}

func (s *Server) decide(ctx context.Context, in *pb.RateLimitRequest) (*pb.RateLimitResponse, error) {
	x := s.scratch.Get().(*exchange)
	defer s.scratch.Put(x)
	x.in.read(in)
	if err := s.request(&x.in, &x.req); err != nil {
		return nil, err
	}
	if err := s.checker.Check(ctx, &x.req, &x.dec); err != nil {
		return nil, err
	}
	return s.response(&x.req, &x.dec), nil
}
