package rls

import (
	"math"
	"math/rand/v2"
	"strconv"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/respond"
)

// response translates a decision on r.
func (s *Server) response(r *weir.Request, d *weir.Decision) *pb.RateLimitResponse {
	out := &pb.RateLimitResponse{
		OverallCode: codeOf(d.Allowed()),
		Statuses:    make([]*pb.RateLimitResponse_DescriptorStatus, len(r.Descriptors)),
	}
	for i := range out.Statuses {
		out.Statuses[i] = statusOf(d, i)
	}
	if s.opts.Headers.Enabled {
		out.ResponseHeadersToAdd = s.headers(out.Statuses)
	}
	if !d.Allowed() && d.Reason == weir.ReasonDegraded {
		out.ResponseHeadersToAdd = append(out.ResponseHeadersToAdd, retryLater(d))
	}
	if s.opts.Metadata {
		out.DynamicMetadata = metadata(d)
	}
	return out
}

// retryLater tells those who were denied because nothing could be decided when
// to come back, not all at once. The protocol has no status but over its limit:
// an error would have Envoy let them through, or not, by its own setting.
func retryLater(d *weir.Decision) *corev3.HeaderValue {
	seconds := respond.RetryAfter(d, rand.Int64N)
	return &corev3.HeaderValue{Key: "retry-after", Value: strconv.FormatInt(seconds, 10)}
}

func codeOf(ok bool) pb.RateLimitResponse_Code {
	if ok {
		return pb.RateLimitResponse_OK
	}
	return pb.RateLimitResponse_OVER_LIMIT
}

// statusOf is the answer for one descriptor: that of its tightest limit.
func statusOf(d *weir.Decision, descriptor int) *pb.RateLimitResponse_DescriptorStatus {
	out := &pb.RateLimitResponse_DescriptorStatus{Code: pb.RateLimitResponse_OK}
	var name string
	if descriptor < len(d.Matched) {
		m := &d.Matched[descriptor]
		name = m.Name
		if m.Unlimited {
			out.LimitRemaining = math.MaxUint32
			return out
		}
		if m.Zero != nil {
			perUnit, unit := rateOf(*m.Zero)
			out.Code = pb.RateLimitResponse_OVER_LIMIT
			out.CurrentLimit = &pb.RateLimitResponse_RateLimit{Name: name, RequestsPerUnit: perUnit, Unit: unit}
			return out
		}
		if m.Rule == "" && !hasCharge(d, descriptor) {
			return out
		}
	}
	c := tightest(d, descriptor)
	if c == nil {
		// Decided without the store, or by a rule that admits nothing.
		out.Code = codeOf(d.Allowed())
		return out
	}
	out.Code = codeOf(c.Outcome.OK || c.Mode == weir.Shadow)
	perUnit, unit := rateOf(c.Limit)
	out.CurrentLimit = &pb.RateLimitResponse_RateLimit{Name: name, RequestsPerUnit: perUnit, Unit: unit}
	out.LimitRemaining = uint32(min(c.Outcome.Remaining, math.MaxUint32))
	out.DurationUntilReset = durationpb.New(c.Outcome.ResetAfter.Duration())
	return out
}

func hasCharge(d *weir.Decision, descriptor int) bool {
	for i := range d.Charges {
		if d.Charges[i].Descriptor == descriptor {
			return true
		}
	}
	return false
}

// tightest is the charge of a descriptor that says most: one that denies, the
// longest first; else the one with least left.
func tightest(d *weir.Decision, descriptor int) *weir.Charged {
	var best *weir.Charged
	for i := range d.Charges {
		c := &d.Charges[i]
		if c.Descriptor == descriptor && (best == nil || tighter(c, best)) {
			best = c
		}
	}
	return best
}

func tighter(a, b *weir.Charged) bool {
	switch {
	case a.Outcome.OK != b.Outcome.OK:
		return !a.Outcome.OK
	case !a.Outcome.OK:
		return a.Outcome.RetryAfter > b.Outcome.RetryAfter
	}
	return a.Outcome.Remaining < b.Outcome.Remaining
}

// headers describes the descriptor with least left, as envoyproxy/ratelimit does.
func (s *Server) headers(statuses []*pb.RateLimitResponse_DescriptorStatus) []*corev3.HeaderValue {
	var least *pb.RateLimitResponse_DescriptorStatus
	for _, st := range statuses {
		if st.GetCurrentLimit() != nil && (least == nil || st.GetLimitRemaining() < least.GetLimitRemaining()) {
			least = st
		}
	}
	if least == nil {
		return nil
	}
	reset := least.GetDurationUntilReset().AsDuration()
	h := s.opts.Headers
	return []*corev3.HeaderValue{
		{Key: h.Limit, Value: strconv.FormatUint(uint64(least.GetCurrentLimit().GetRequestsPerUnit()), 10)},
		{Key: h.Remaining, Value: strconv.FormatUint(uint64(least.GetLimitRemaining()), 10)},
		{Key: h.Reset, Value: strconv.FormatInt(weir.MicrosOf(reset).Seconds(), 10)},
	}
}

// metadata merges what the matched rules carry; of equal keys the later wins.
func metadata(d *weir.Decision) *structpb.Struct {
	var out *structpb.Struct
	for i := range d.Matched {
		m, err := structpb.NewStruct(d.Matched[i].Metadata)
		if err != nil || len(m.GetFields()) == 0 {
			continue
		}
		if out == nil {
			out = &structpb.Struct{Fields: make(map[string]*structpb.Value)}
		}
		for k, v := range m.GetFields() {
			out.Fields[k] = v
		}
	}
	return out
}
