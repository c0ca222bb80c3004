package rls_test

import (
	"context"
	"math"
	"strings"
	"testing"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/weirlimit/weir/internal/rls"
)

const (
	ok   = pb.RateLimitResponse_OK
	over = pb.RateLimitResponse_OVER_LIMIT
)

const config = `
domain: test
descriptors:
  - key: tenant
    rate_limit: {unit: day, requests_per_unit: 3, name: per_tenant}
  - key: tenant
    value: vip
    rate_limit: {unit: day, requests_per_unit: 5}
  - key: path
    value: /api/*
    rate_limit: {unit: hour, requests_per_unit: 2}
  - key: shared
    value: s-*
    share_threshold: true
    rate_limit: {unit: day, requests_per_unit: 2}
  - key: free
    value: pass
  - key: bottomless
    rate_limit: {unlimited: true}
  - key: shut
    rate_limit: {unit: day, requests_per_unit: 0}
  - key: watched
    shadow_mode: true
    rate_limit: {unit: day, requests_per_unit: 1}
  - key: outer
    descriptors:
      - key: inner
        rate_limit: {unit: day, requests_per_unit: 1, name: nested, replaces: [{name: per_tenant}]}
  - key: q1
    quota_mode: true
    rate_limit: {unit: day, requests_per_unit: 1}
  - key: q2
    quota_mode: true
    rate_limit: {unit: day, requests_per_unit: 2}
  - key: half
    rate_limit: {unit: minute, unit_multiplier: 2, requests_per_unit: 240}
  - key: tagged
    metadata: {team: edge}
    rate_limit: {unit: day, requests_per_unit: 9}
`

// TestEveryRule is the contract of the service, line by line, over a real
// connection, on both stores, counting our way and the peer's.
func TestEveryRule(t *testing.T) {
	each(t, func(t *testing.T, serve opener, compat bool) {
		s := serve(rls.Options{Compat: compat, Metadata: true}, config)
		t.Run("counts per value, and says the limit", func(t *testing.T) {
			for i := range 4 {
				out := s.ask(0, d("tenant", "a"))
				st := out.GetStatuses()[0]
				want, left := ok, uint32(2-i)
				if i == 3 {
					want, left = over, 0
				}
				if out.GetOverallCode() != want || st.GetCode() != want || st.GetLimitRemaining() != left {
					t.Errorf("request %d: %v", i+1, out)
				}
				l := st.GetCurrentLimit()
				if l.GetRequestsPerUnit() != 3 || l.GetUnit() != pb.RateLimitResponse_RateLimit_DAY || l.GetName() != "per_tenant" {
					t.Errorf("limit %v", l)
				}
				if st.GetDurationUntilReset().AsDuration() <= 0 {
					t.Errorf("no reset: %v", st)
				}
			}
			if out := s.ask(0, d("tenant", "b")); out.GetOverallCode() != ok {
				t.Errorf("another value: %v", out)
			}
		})
		t.Run("an exact value goes before the bare key", func(t *testing.T) {
			if l := s.ask(0, d("tenant", "vip")).GetStatuses()[0].GetCurrentLimit(); l.GetRequestsPerUnit() != 5 {
				t.Errorf("limit %v", l)
			}
		})
		t.Run("a wildcard matches, a counter per value", func(t *testing.T) {
			s.ask(2, d("path", "/api/x"))
			if out := s.ask(0, d("path", "/api/x")); out.GetOverallCode() != over {
				t.Errorf("got %v", out)
			}
			if out := s.ask(0, d("path", "/api/y")); out.GetOverallCode() != ok {
				t.Errorf("got %v", out)
			}
			if st := s.ask(0, d("path", "/web")).GetStatuses()[0]; st.GetCurrentLimit() != nil || st.GetCode() != ok {
				t.Errorf("no match: %v", st)
			}
		})
		t.Run("share_threshold counts all values together", func(t *testing.T) {
			s.ask(0, d("shared", "s-1"))
			s.ask(0, d("shared", "s-2"))
			if out := s.ask(0, d("shared", "s-3")); out.GetOverallCode() != over {
				t.Errorf("got %v", out)
			}
		})
		t.Run("no rule, a whitelist, another depth and an unknown domain pass without a limit", func(t *testing.T) {
			for _, x := range []*common.RateLimitDescriptor{d("nosuch", "x"), d("free", "pass"), d("outer", "x"), d("tenant", "a", "more", "x")} {
				if st := s.ask(0, x).GetStatuses()[0]; st.GetCode() != ok || st.GetCurrentLimit() != nil {
					t.Errorf("%v: %v", x, st)
				}
			}
			out, err := s.ShouldRateLimit(context.Background(), &pb.RateLimitRequest{Domain: "other", Descriptors: []*common.RateLimitDescriptor{d("tenant", "a")}})
			if err != nil || out.GetOverallCode() != ok || out.GetStatuses()[0].GetCurrentLimit() != nil {
				t.Errorf("unknown domain: %v, %v", out, err)
			}
		})
		t.Run("unlimited", func(t *testing.T) {
			st := s.ask(0, d("bottomless", "x")).GetStatuses()[0]
			if st.GetCode() != ok || st.GetLimitRemaining() != math.MaxUint32 || st.GetCurrentLimit() != nil {
				t.Errorf("got %v", st)
			}
		})
		t.Run("a limit of 0 denies", func(t *testing.T) {
			if out := s.ask(0, d("shut", "x")); out.GetOverallCode() != over || out.GetStatuses()[0].GetCode() != over {
				t.Errorf("got %v", out)
			}
		})
		t.Run("shadow_mode counts and passes", func(t *testing.T) {
			for range 3 {
				if out := s.ask(0, d("watched", "x")); out.GetOverallCode() != ok || out.GetStatuses()[0].GetCode() != ok {
					t.Errorf("got %v", out)
				}
			}
		})
		t.Run("replaces drops the named rule", func(t *testing.T) {
			out := s.ask(0, d("tenant", "r"), d("outer", "1", "inner", "2"))
			if out.GetStatuses()[0].GetCurrentLimit() != nil || out.GetStatuses()[1].GetCurrentLimit().GetName() != "nested" {
				t.Errorf("got %v", out)
			}
			if left := s.ask(0, d("tenant", "r")).GetStatuses()[0].GetLimitRemaining(); left != 2 {
				t.Errorf("the replaced rule was counted: %d left", left)
			}
		})
		t.Run("quota_mode denies when all quotas do", func(t *testing.T) {
			first := s.ask(0, d("q1", "x"), d("q2", "x"))
			second := s.ask(0, d("q1", "x"), d("q2", "x"))
			third := s.ask(0, d("q1", "x"), d("q2", "x"))
			if first.GetOverallCode() != ok || second.GetOverallCode() != ok || third.GetOverallCode() != over {
				t.Errorf("got %v, %v, %v", first, second, third)
			}
			if second.GetStatuses()[0].GetCode() != over || second.GetStatuses()[1].GetCode() != ok {
				t.Errorf("single statuses: %v", second)
			}
		})
		t.Run("hits", func(t *testing.T) {
			if left := s.ask(2, d("tenant", "h")).GetStatuses()[0].GetLimitRemaining(); left != 1 {
				t.Errorf("hits_addend 2: %d left", left)
			}
			if left := s.ask(9, withHits(d("tenant", "h2"), 3)).GetStatuses()[0].GetLimitRemaining(); left != 0 {
				t.Errorf("the descriptor's own hits: %d left", left)
			}
			if st := s.ask(0, withHits(d("tenant", "h"), 0)).GetStatuses()[0]; st.GetLimitRemaining() != 1 || st.GetCode() != ok {
				t.Errorf("a peek: %v", st)
			}
			back := withHits(d("tenant", "h"), 2)
			back.IsNegativeHits = true
			if st := s.ask(0, back).GetStatuses()[0]; st.GetCode() != ok || st.GetLimitRemaining() != 3 {
				t.Errorf("a refund: %v", st)
			}
			if st := s.ask(0, back).GetStatuses()[0]; st.GetCode() != ok || st.GetLimitRemaining() != 3 {
				t.Errorf("a refund is floored: %v", st)
			}
		})
		t.Run("a request's own limit", func(t *testing.T) {
			own := d("tenant", "own")
			own.Limit = &common.RateLimitDescriptor_RateLimitOverride{RequestsPerUnit: 1, Unit: typev3.RateLimitUnit_HOUR}
			if st := s.ask(0, own).GetStatuses()[0]; st.GetCurrentLimit().GetRequestsPerUnit() != 1 || st.GetCurrentLimit().GetUnit() != pb.RateLimitResponse_RateLimit_HOUR {
				t.Errorf("got %v", st)
			}
			if out := s.ask(0, own); out.GetOverallCode() != over {
				t.Errorf("got %v", out)
			}
		})
		t.Run("a request's own window", func(t *testing.T) {
			own := d("tenant", "own window")
			own.Limit = &common.RateLimitDescriptor_RateLimitOverride{
				RequestsPerUnit: 1, Unit: typev3.RateLimitUnit_HOUR, UnitMultiplier: wrapperspb.UInt32(12),
			}
			st := s.ask(0, own).GetStatuses()[0]
			if st.GetCurrentLimit().GetRequestsPerUnit() != 2 || st.GetCurrentLimit().GetUnit() != pb.RateLimitResponse_RateLimit_DAY {
				t.Errorf("1 in 12 hours: %v", st)
			}
			if out := s.ask(0, own); out.GetOverallCode() != over {
				t.Errorf("got %v", out)
			}
		})
		t.Run("what units cannot say", func(t *testing.T) {
			if l := s.ask(0, d("half", "x")).GetStatuses()[0].GetCurrentLimit(); l.GetUnit() != pb.RateLimitResponse_RateLimit_SECOND && l.GetUnit() != pb.RateLimitResponse_RateLimit_HOUR {
				t.Errorf("240 in two minutes: %v", l)
			}
		})
		t.Run("metadata", func(t *testing.T) {
			if f := s.ask(0, d("tagged", "x")).GetDynamicMetadata().GetFields(); f["team"].GetStringValue() != "edge" {
				t.Errorf("got %v", f)
			}
		})
		t.Run("keys that a join would confuse are apart", func(t *testing.T) {
			s.ask(3, d("tenant", "x_tenant_y"))
			if out := s.ask(0, d("tenant", "x")); out.GetOverallCode() != ok {
				t.Errorf("got %v", out)
			}
		})
	})
}

// TestDenialsCount: the peer counts every descriptor, denied or not; we charge
// a denied request to none.
func TestDenialsCount(t *testing.T) {
	each(t, func(t *testing.T, serve opener, compat bool) {
		s := serve(rls.Options{Compat: compat}, config)
		s.ask(2, d("path", "/api/full"))
		s.ask(0, d("path", "/api/full"), d("tenant", "z")) // denied
		left := s.ask(0, withHits(d("tenant", "z"), 0)).GetStatuses()[0].GetLimitRemaining()
		if want := map[bool]uint32{false: 3, true: 2}[compat]; left != want {
			t.Errorf("%d left, want %d", left, want)
		}
		if out := s.ask(0, d("shut", "x"), d("tenant", "y")); out.GetOverallCode() != over {
			t.Errorf("a limit of 0: %v", out)
		}
		left = s.ask(0, withHits(d("tenant", "y"), 0)).GetStatuses()[0].GetLimitRemaining()
		if want := map[bool]uint32{false: 3, true: 2}[compat]; left != want {
			t.Errorf("beside a limit of 0: %d left, want %d", left, want)
		}
	})
}

func TestBadRequests(t *testing.T) {
	each(t, func(t *testing.T, serve opener, compat bool) {
		s := serve(rls.Options{Compat: compat}, config)
		long := d("tenant", "a")
		long.Limit = &common.RateLimitDescriptor_RateLimitOverride{
			RequestsPerUnit: 1, Unit: typev3.RateLimitUnit_YEAR, UnitMultiplier: wrapperspb.UInt32(math.MaxUint32),
		}
		unknown := d("tenant", "a")
		unknown.Limit = &common.RateLimitDescriptor_RateLimitOverride{RequestsPerUnit: 1}
		many := make([]*common.RateLimitDescriptor, rls.MaxDescriptors+1)
		for i := range many {
			many[i] = d("tenant", "a")
		}
		for name, tt := range map[string]struct {
			in   *pb.RateLimitRequest
			text string
		}{
			"domain":      {&pb.RateLimitRequest{Descriptors: []*common.RateLimitDescriptor{d("k", "v")}}, "rate limit domain must not be empty"},
			"descriptors": {&pb.RateLimitRequest{Domain: "test"}, "rate limit descriptor list must not be empty"},
			"unit":        {&pb.RateLimitRequest{Domain: "test", Descriptors: []*common.RateLimitDescriptor{unknown}}, "invalid rate limit unit"},
			"multiplier":  {&pb.RateLimitRequest{Domain: "test", Descriptors: []*common.RateLimitDescriptor{long}}, "longer than a year"},
			"many":        {&pb.RateLimitRequest{Domain: "test", Descriptors: many}, "more than 16"},
			"long domain": {&pb.RateLimitRequest{Domain: strings.Repeat("x", 257), Descriptors: []*common.RateLimitDescriptor{d("k", "v")}}, "longer than 256"},
			"long key":    {&pb.RateLimitRequest{Domain: "test", Descriptors: []*common.RateLimitDescriptor{d(strings.Repeat("x", 257), "v")}}, "longer than 256"},
			"long value":  {&pb.RateLimitRequest{Domain: "test", Descriptors: []*common.RateLimitDescriptor{d("tenant", strings.Repeat("x", 64<<10+1))}}, "longer than 65536"},
		} {
			_, err := s.ShouldRateLimit(context.Background(), tt.in)
			if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestLongValues: what a client sends may be a value, and a long one is limited as
// any other. A gateway that fails open takes an error for a Weir that is away: a
// bound below that of messages would be a switch in the client's hand.
func TestLongValues(t *testing.T) {
	each(t, func(t *testing.T, serve opener, compat bool) {
		s := serve(rls.Options{Compat: compat}, config)
		for _, size := range []int{200, 201, 256, 257, 5 << 10, 60 << 10} {
			long := strings.Repeat("x", size)
			for i := range 4 {
				if out := s.ask(0, d("tenant", long)); out.GetOverallCode() == over != (i == 3) {
					t.Errorf("%d bytes, request %d: %v", size, i+1, out)
				}
			}
			if out := s.ask(0, d("tenant", long[1:]+"y")); out.GetOverallCode() != ok {
				t.Errorf("%d bytes that end otherwise: %v", size, out)
			}
			s.ask(2, d("path", "/api/"+long))
			if out := s.ask(0, d("path", "/api/"+long)); out.GetOverallCode() != over {
				t.Errorf("%d bytes of a wildcard: %v", size, out)
			}
			if st := s.ask(0, d("tenant", "vip"+long)).GetStatuses()[0]; st.GetCurrentLimit().GetRequestsPerUnit() != 3 {
				t.Errorf("%d bytes after an exact value: %v", size, st)
			}
		}
	})
}
