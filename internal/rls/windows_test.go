package rls_test

import (
	"testing"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"

	"github.com/weirlimit/weir/internal/rls"
)

// TestOfSeveralWindowsTheBindingOneIsSaid: a node with several limits has one
// status, which names the limit with least left, and on denial the one that
// denies.
func TestOfSeveralWindowsTheBindingOneIsSaid(t *testing.T) {
	each(t, func(t *testing.T, serve opener, compat bool) {
		s := serve(rls.Options{Compat: compat}, `
domain: test
descriptors:
  - key: tenant
    rate_limits:
      - {unit: day, requests_per_unit: 5}
      - {unit: hour, unit_multiplier: 12, requests_per_unit: 3}
`)
		first := s.ask(0, d("tenant", "a")).GetStatuses()[0]
		if l := first.GetCurrentLimit(); first.GetLimitRemaining() != 2 || l.GetRequestsPerUnit() != 6 || l.GetUnit() != pb.RateLimitResponse_RateLimit_DAY {
			t.Errorf("3 in 12 hours, said as 6 a day: %v", first)
		}
		s.ask(2, d("tenant", "a"))
		denied := s.ask(0, d("tenant", "a"))
		if st := denied.GetStatuses()[0]; denied.GetOverallCode() != over || st.GetCurrentLimit().GetRequestsPerUnit() != 6 {
			t.Errorf("denied by the 12 hours: %v", denied)
		}
	})
}
