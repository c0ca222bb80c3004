package rls_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/obs"
	"github.com/weirlimit/weir/internal/rls"
	"github.com/weirlimit/weir/internal/unary"
	"github.com/weirlimit/weir/internal/unarytest"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
)

const roomy = `
domain: test
descriptors:
  - {key: tenant, rate_limit: {unit: second, requests_per_unit: 10000000, name: per_tenant}}
  - {key: path, rate_limit: {unit: hour, requests_per_unit: 10000000}}
  - {key: ip, rate_limit: {unit: day, requests_per_unit: 10000000}}
  - {key: shut, rate_limit: {unit: day, requests_per_unit: 1}}
`

// counted is an engine on memory whose decisions are counted, as in a server.
func counted(t testing.TB) *engine.Engine {
	t.Helper()
	f, problems := policy.ParseEnvoy("config.yaml", []byte(roomy))
	set, more := policy.Compile([]*policy.File{{Name: "config.yaml", Envoy: f}}, policy.Options{})
	if set == nil {
		t.Fatal(problems, more)
	}
	m := obs.New(obs.Options{})
	rules := make([]obs.RuleInfo, len(set.Rules()))
	for i, r := range set.Rules() {
		rules[i] = obs.RuleInfo{Domain: r.Domain, ID: r.ID}
	}
	e, err := engine.New(engine.Options{Store: memstore.New(), Deadline: time.Second, Hooks: m.Hooks()})
	if err != nil {
		t.Fatal(err)
	}
	m.SetLoaded(e.NextSerial(), set.Version(), rules)
	e.Swap(set)
	return e
}

// asks are requests of 1, 3 and 5 descriptors, and one that is denied.
func asks(t testing.TB) map[string][]byte {
	of := func(d ...*common.RateLimitDescriptor) []byte {
		return marshal(t, &pb.RateLimitRequest{Domain: "test", Descriptors: d})
	}
	tenant, path, ip := d("tenant", "acme-incorporated"), d("path", "/api/v1/things"), d("ip", "203.0.113.77")
	return map[string][]byte{
		"1": of(tenant), "3": of(tenant, path, ip), "5": of(tenant, path, ip, d("free", "x"), d("tenant", "b")), "denied": of(d("shut", "x")),
	}
}

func TestLaneDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool drops items under the race detector, so that it is not about the lane")
	}
	e := counted(t)
	for name, o := range map[string]rls.Options{"plain": {}, "headers": {Headers: rls.Headers{Enabled: true}}, "metadata": {Metadata: true}} {
		lane, call := rls.NewLane(rls.New(e, o), e), &unarytest.Bare{}
		for which, b := range asks(t) {
			if n := testing.AllocsPerRun(1000, func() { unary.Serve(lane, call, b) }); n != 0 || call.Code != codes.OK || len(call.Message) == 0 {
				t.Errorf("%s, %s: %v allocations a call; %v %x", name, which, n, call.Code, call.Message)
			}
		}
	}
}

// BenchmarkLane is a whole call, from bytes to bytes; again, of a message that is
// the same as the one before.
func BenchmarkLane(b *testing.B) {
	e := counted(b)
	lane, call := rls.NewLane(rls.New(e, rls.Options{}), e), &unarytest.Bare{}
	for _, n := range []string{"1", "3", "5", "denied"} {
		msg := asks(b)[n]
		other := append(append([]byte(nil), msg...), 3<<3, 1) // hits_addend, which is 1 anyway
		for _, second := range [][]byte{other, msg} {
			name := n
			if &second[0] == &msg[0] {
				name += "/again"
			}
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for turns, i := [...][]byte{msg, second}, 0; b.Loop(); i++ {
					unary.Serve(lane, call, turns[i&1])
				}
			})
		}
	}
}

// BenchmarkStock is the same with protobuf's messages, as grpc-go calls it.
func BenchmarkStock(b *testing.B) {
	s := rls.New(counted(b), rls.Options{})
	ctx := context.Background()
	for _, n := range []string{"1", "3", "5", "denied"} {
		msg := asks(b)[n]
		b.Run(n, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var in pb.RateLimitRequest
				if err := proto.Unmarshal(msg, &in); err != nil {
					b.Fatal(err)
				}
				out, err := s.ShouldRateLimit(ctx, &in)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := proto.Marshal(out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	for _, n := range []string{"1", "3", "5"} {
		text := string(asks(b)[n])
		b.Run(n, func(b *testing.B) {
			b.ReportAllocs()
			var in rls.Asked
			for b.Loop() {
				_ = in.Scan(text)
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	s := rls.New(nil, rls.Options{})
	for _, n := range []int{1, 3, 5} {
		r, d := &weir.Request{Descriptors: make([]weir.Descriptor, n)}, &weir.Decision{Verdict: weir.Allow}
		for i := range n {
			d.Matched = append(d.Matched, weir.Matched{Rule: "tenant"})
			d.Charges = append(d.Charges, weir.Charged{
				Descriptor: i, Limit: weir.Limit{Algorithm: weir.GCRA, Count: 1000, Window: weir.Minute},
				Outcome: weir.Outcome{OK: true, Remaining: 77, ResetAfter: 12345678},
			})
		}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			buffer := make([]byte, 0, 1024)
			for b.Loop() {
				buffer, _ = s.AppendResponse(buffer[:0], r, d)
			}
		})
	}
}
