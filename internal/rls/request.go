package rls

import (
	"fmt"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"

	"github.com/weirlimit/weir"
)

// Bounds on a request. A gateway sends a handful of descriptors with short names;
// more is a mistake or an attack. A value may be what a client sent, and Envoy
// takes an error for a server that is away, which by default lets the request
// pass: so it may be as long as a message. Keys hold long values as digests.
const (
	MaxDescriptors = 16
	MaxPairs       = 32       // of one descriptor
	MaxNameBytes   = 256      // of a domain or a key
	MaxValueBytes  = 64 << 10 // of a value
)

// request translates in into out, reusing out's memory.
func (s *Server) request(in *pb.RateLimitRequest, out *weir.Request) error {
	if in.GetDomain() == "" {
		return invalid("domain", "rate limit domain must not be empty")
	}
	n := len(in.GetDescriptors())
	if n == 0 {
		return invalid("descriptors", "rate limit descriptor list must not be empty")
	}
	if n > MaxDescriptors {
		return invalid("descriptors", fmt.Sprintf("%d descriptors are more than %d", n, MaxDescriptors))
	}
	if len(in.GetDomain()) > MaxNameBytes {
		return invalid("domain", fmt.Sprintf("is longer than %d bytes", MaxNameBytes))
	}
	*out = weir.Request{Domain: in.GetDomain(), Cost: int64(in.GetHitsAddend()), Descriptors: out.Descriptors}
	if cap(out.Descriptors) < n {
		out.Descriptors = make([]weir.Descriptor, n)
	}
	out.Descriptors = out.Descriptors[:n]
	for i, d := range in.GetDescriptors() {
		if err := s.descriptor(d, &out.Descriptors[i]); err != nil {
			err.Field = fmt.Sprintf("descriptors[%d].%s", i, err.Field)
			return err
		}
	}
	return nil
}

func (s *Server) descriptor(in *common.RateLimitDescriptor, out *weir.Descriptor) *weir.Error {
	*out = weir.Descriptor{Pairs: out.Pairs[:0], Refund: in.GetIsNegativeHits()}
	if len(in.GetEntries()) > MaxPairs {
		return invalid("entries", fmt.Sprintf("%d entries are more than %d", len(in.GetEntries()), MaxPairs))
	}
	for _, e := range in.GetEntries() {
		if len(e.GetKey()) > MaxNameBytes {
			return invalid("entries", fmt.Sprintf("a key is longer than %d bytes", MaxNameBytes))
		}
		if len(e.GetValue()) > MaxValueBytes {
			return invalid("entries", fmt.Sprintf("a value is longer than %d bytes", MaxValueBytes))
		}
		out.Pairs = append(out.Pairs, weir.Pair{Name: e.GetKey(), Value: e.GetValue()})
	}
	if hits := in.GetHitsAddend(); hits != nil {
		if hits.GetValue() > 1<<62 {
			return invalid("hits_addend", "is too large")
		}
		out.Cost, out.HasCost = int64(hits.GetValue()), true
	}
	if l := in.GetLimit(); l != nil {
		meter, err := s.overrides.meter(l, s.opts.Compat)
		if err != nil {
			return err
		}
		out.Limit = meter
	}
	return nil
}

func invalid(field, message string) *weir.Error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: message}
}
