package rls

import (
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
	var least status
	for i := range out.Statuses {
		st := statusOf(d, i)
		out.Statuses[i] = st.message()
		least.keepLeast(&st)
	}
	if s.opts.Headers.Enabled && least.limited {
		out.ResponseHeadersToAdd = s.headers(&least)
	}
	if seconds, ok := retryLater(d); ok {
		out.ResponseHeadersToAdd = append(out.ResponseHeadersToAdd, &corev3.HeaderValue{Key: retryAfter, Value: strconv.FormatInt(seconds, 10)})
	}
	if s.opts.Metadata {
		out.DynamicMetadata = metadata(d)
	}
	return out
}

const retryAfter = "retry-after"

// retryLater tells those who were denied because nothing could be decided when
// to come back, not all at once. The protocol has no status but over its limit:
// an error would have Envoy let them through, or not, by its own setting.
func retryLater(d *weir.Decision) (seconds int64, ok bool) {
	if d.Allowed() || d.Reason != weir.ReasonDegraded {
		return 0, false
	}
	return respond.RetryAfter(d, rand.Int64N), true
}

func codeOf(ok bool) pb.RateLimitResponse_Code {
	if ok {
		return pb.RateLimitResponse_OK
	}
	return pb.RateLimitResponse_OVER_LIMIT
}

func (s *status) message() *pb.RateLimitResponse_DescriptorStatus {
	out := &pb.RateLimitResponse_DescriptorStatus{Code: s.code, LimitRemaining: s.remaining}
	if s.limited {
		out.CurrentLimit = &pb.RateLimitResponse_RateLimit{Name: s.name, RequestsPerUnit: s.perUnit, Unit: s.unit}
	}
	if s.timed {
		out.DurationUntilReset = durationpb.New(s.reset)
	}
	return out
}

// headers describes the descriptor with least left, as envoyproxy/ratelimit does.
func (s *Server) headers(least *status) []*corev3.HeaderValue {
	h := s.opts.Headers
	return []*corev3.HeaderValue{
		{Key: h.Limit, Value: strconv.FormatUint(uint64(least.perUnit), 10)},
		{Key: h.Remaining, Value: strconv.FormatUint(uint64(least.remaining), 10)},
		{Key: h.Reset, Value: strconv.FormatInt(weir.MicrosOf(least.reset).Seconds(), 10)},
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
