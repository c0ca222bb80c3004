package rls

import (
	"fmt"

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

// request translates in into out, reusing out's memory. The pairs of out are
// in's.
func (s *Server) request(in *asked, out *weir.Request) error {
	if in.domain == "" {
		return invalid("domain", "rate limit domain must not be empty")
	}
	n := in.total
	if n == 0 {
		return invalid("descriptors", "rate limit descriptor list must not be empty")
	}
	if n > MaxDescriptors {
		return invalid("descriptors", fmt.Sprintf("%d descriptors are more than %d", n, MaxDescriptors))
	}
	if len(in.domain) > MaxNameBytes {
		return invalid("domain", fmt.Sprintf("is longer than %d bytes", MaxNameBytes))
	}
	*out = weir.Request{Domain: in.domain, Cost: int64(in.hits), Descriptors: out.Descriptors}
	if cap(out.Descriptors) < n {
		out.Descriptors = make([]weir.Descriptor, n)
	}
	out.Descriptors = out.Descriptors[:n]
	for i := range in.descriptors {
		if err := s.descriptor(&in.descriptors[i], &out.Descriptors[i]); err != nil {
			err.Field = fmt.Sprintf("descriptors[%d].%s", i, err.Field)
			return err
		}
	}
	return nil
}

func (s *Server) descriptor(in *askedDescriptor, out *weir.Descriptor) *weir.Error {
	*out = weir.Descriptor{Pairs: in.pairs, Refund: in.refund}
	if in.entries > MaxPairs {
		return invalid("entries", fmt.Sprintf("%d entries are more than %d", in.entries, MaxPairs))
	}
	for i := range in.pairs {
		if len(in.pairs[i].Name) > MaxNameBytes {
			return invalid("entries", fmt.Sprintf("a key is longer than %d bytes", MaxNameBytes))
		}
		if len(in.pairs[i].Value) > MaxValueBytes {
			return invalid("entries", fmt.Sprintf("a value is longer than %d bytes", MaxValueBytes))
		}
	}
	if in.hasHits {
		if in.hits > 1<<62 {
			return invalid("hits_addend", "is too large")
		}
		out.Cost, out.HasCost = int64(in.hits), true
	}
	if in.hasLimit {
		meter, err := s.overrides.meter(in.limit, s.opts.Compat)
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
