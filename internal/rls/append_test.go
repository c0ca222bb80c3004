package rls_test

import (
	"bytes"
	"strings"
	"testing"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/rls"
)

var (
	micros = rapid.OneOf(rapid.Int64Range(0, 10), rapid.Int64Range(0, int64(weir.Year)), rapid.SampledFrom([]int64{int64(weir.Never), 1_000_000, -5}))
	limits = rapid.SampledFrom([]weir.Limit{
		{Algorithm: weir.GCRA, Count: 100, Window: weir.Second, Burst: 200},
		{Algorithm: weir.FixedWindow, Count: 1e7, Window: weir.Year},
		{Algorithm: weir.SlidingWindow, Count: 1, Window: 37 * weir.Second},
		{Algorithm: weir.SlidingWindow, Count: 0, Window: weir.Week},
		{Algorithm: weir.SlidingWindow, Count: 100, Window: 30 * weir.Second},
	})
	names = rapid.SampledFrom([]string{"", "rule", strings.Repeat("long", 40), strings.Repeat("longer", 6000)})
)

func decision(t *rapid.T, descriptors int) *weir.Decision {
	d := &weir.Decision{
		Verdict: weir.Verdict(rapid.IntRange(1, 2).Draw(t, "verdict")), RetryAfter: weir.Never,
		Reason: weir.Reason(rapid.IntRange(0, 6).Draw(t, "reason")),
	}
	for i := range descriptors {
		m := weir.Matched{Rule: names.Draw(t, "rule"), Name: names.Draw(t, "name"), Unlimited: rapid.IntRange(0, 9).Draw(t, "unlimited") == 0}
		if rapid.IntRange(0, 9).Draw(t, "zero") == 0 {
			zero := limits.Draw(t, "zero limit")
			m.Zero = &zero
		}
		if rapid.IntRange(0, 9).Draw(t, "metadata") == 0 {
			m.Metadata = map[string]any{"team": "edge"}
		}
		d.Matched = append(d.Matched, m)
		for range rapid.IntRange(0, 3).Draw(t, "charges") {
			d.Charges = append(d.Charges, weir.Charged{
				Rule: m.Rule, Descriptor: i, Limit: limits.Draw(t, "limit"), Mode: weir.Mode(rapid.IntRange(0, 5).Draw(t, "mode")),
				Outcome: weir.Outcome{
					OK: rapid.Bool().Draw(t, "ok"), Remaining: rapid.Int64Range(0, 1<<33).Draw(t, "remaining"),
					ResetAfter: weir.Micros(micros.Draw(t, "reset")), RetryAfter: weir.Micros(micros.Draw(t, "retry")),
				},
			})
		}
	}
	return d
}

// TestAppend: an answer is, byte for byte, what protobuf writes.
func TestAppend(t *testing.T) {
	servers := []*rls.Server{
		rls.New(nil, rls.Options{}), rls.New(nil, rls.Options{Metadata: true}),
		rls.New(nil, rls.Options{Headers: rls.Headers{Enabled: true, Reset: "X-Back"}}),
	}
	var buffer []byte
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(servers).Draw(t, "server")
		r := &weir.Request{Descriptors: make([]weir.Descriptor, rapid.IntRange(1, rls.MaxDescriptors).Draw(t, "descriptors"))}
		// A decision that broke off may have met fewer.
		d := decision(t, rapid.IntRange(0, len(r.Descriptors)).Draw(t, "matched"))
		want, err := proto.MarshalOptions{Deterministic: true}.Marshal(s.Response(r, d))
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.AppendResponse(buffer[:0], r, d)
		if err != nil || !bytes.Equal(got, want) {
			var m pb.RateLimitResponse
			t.Errorf("%v, %v\n%x\nwant\n%x", err, proto.Unmarshal(got, &m), got, want)
		}
		buffer = got
	})
}
