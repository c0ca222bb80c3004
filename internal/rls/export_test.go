package rls

import (
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"

	"github.com/weirlimit/weir"
)

// RateOf is rateOf, for tests.
var RateOf = rateOf

// Asked is what a request says, for tests.
type Asked = asked

// Scan reads a message with our decoder.
func (a *asked) Scan(text string) error { return a.scan(text) }

// Read reads a message that protobuf has decoded.
func (a *asked) Read(in *pb.RateLimitRequest) { a.read(in) }

// Response is what is answered as a message.
func (s *Server) Response(r *weir.Request, d *weir.Decision) *pb.RateLimitResponse {
	return s.response(r, d)
}

// AppendResponse is what is answered as bytes.
func (s *Server) AppendResponse(b []byte, r *weir.Request, d *weir.Decision) ([]byte, error) {
	return s.appendResponse(b, r, d)
}
