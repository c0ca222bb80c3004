package bench

import (
	"math"
	"testing"

	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

// TestJudge: what no limit applies to is not taken for what a limit allows.
func TestJudge(t *testing.T) {
	type status = rlsv3.RateLimitResponse_DescriptorStatus
	const ok, over = rlsv3.RateLimitResponse_OK, rlsv3.RateLimitResponse_OVER_LIMIT
	limit := &rlsv3.RateLimitResponse_RateLimit{RequestsPerUnit: 5, Unit: rlsv3.RateLimitResponse_RateLimit_DAY}
	limited := &status{Code: ok, CurrentLimit: limit, LimitRemaining: 4, DurationUntilReset: durationpb.New(1)}
	usedUp := &status{Code: ok, CurrentLimit: limit}
	shut := &status{Code: over, CurrentLimit: limit}
	unlimited := &status{Code: ok, LimitRemaining: math.MaxUint32}
	nothing := &status{Code: ok}
	rls := func(code rlsv3.RateLimitResponse_Code, statuses ...*status) proto.Message {
		return &rlsv3.RateLimitResponse{OverallCode: code, Statuses: statuses}
	}
	native := func(code weirv1.Code, reason weirv1.Reason, q *weirv1.Quota) proto.Message {
		return &weirv1.CheckResponse{Code: code, Allowed: code == weirv1.Code_CODE_OK, Quota: q, PolicyVersion: "v", Reason: reason, Number: 7}
	}
	quota := &weirv1.Quota{Rule: "k1", Limit: "5/d"}
	for _, tc := range []struct {
		name    string
		api     API
		message proto.Message
		want    uint8
	}{
		{"a limit", RLS, rls(ok, limited), allowed},
		{"two limits, one with nothing left", RLS, rls(ok, limited, usedUp), allowed},
		{"in shadow", RLS, rls(ok, shut), allowed},
		{"an unlimited rule", RLS, rls(ok, unlimited), allowed},
		{"a server that says no more", RLS, rls(ok), allowed},
		{"no rule", RLS, rls(ok, nothing), unruled},
		{"no rule for one of two", RLS, rls(ok, limited, nothing), unruled},
		{"denied", RLS, rls(over, shut), denied},
		{"denied, and no rule for the other", RLS, rls(over, nothing, shut), denied},
		{"denied without a limit", RLS, rls(over, &status{Code: over}), denied},
		{"unknown", RLS, rls(0, nothing), none},
		{"a limit", Native, native(1, weirv1.Reason_REASON_NONE, quota), allowed},
		{"degraded", Native, native(1, weirv1.Reason_REASON_DEGRADED, nil), allowed},
		{"no rule", Native, native(1, weirv1.Reason_REASON_NO_RULE, nil), unruled},
		{"denied", Native, native(2, weirv1.Reason_REASON_EXHAUSTED, quota), denied},
		{"no such policy", Native, native(3, weirv1.Reason_REASON_NONE, nil), none},
		{"an error", Native, &weirv1.CheckResponse{Code: weirv1.Code_CODE_ERROR, Error: &weirv1.Error{}}, none},
		{"no code", Native, &weirv1.CheckResponse{Remaining: 1}, none},
	} {
		text, err := proto.Marshal(tc.message)
		if err != nil {
			t.Fatal(err)
		}
		judge := tc.api.judge()
		if got := judge(text); got != tc.want {
			t.Errorf("%s, %s: %d, want %d", tc.api, tc.name, got, tc.want)
		}
		if n := testing.AllocsPerRun(100, func() { judge(text) }); n != 0 {
			t.Errorf("%s, %s: %v allocations", tc.api, tc.name, n)
		}
	}
	for _, api := range []API{RLS, Native} {
		if got := api.judge()([]byte{0x08}); got != none {
			t.Errorf("%s, half a message: %d", api, got)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	text, err := proto.Marshal(&rlsv3.RateLimitResponse{OverallCode: 1, Statuses: []*rlsv3.RateLimitResponse_DescriptorStatus{{
		Code: 1, CurrentLimit: &rlsv3.RateLimitResponse_RateLimit{RequestsPerUnit: 5, Unit: 1}, LimitRemaining: 4, DurationUntilReset: durationpb.New(1),
	}}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		judgeRLS(text)
	}
}
