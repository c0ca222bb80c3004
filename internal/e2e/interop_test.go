package e2e

import (
	bigendian "encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

// unaryCall makes a unary call with some client, of a method by its path, and
// returns the bytes of the answer and the status.
type unaryCall func(t *testing.T, path string, msg []byte) ([]byte, codes.Code)

// serveTwo serves a policy of two an hour.
func serveTwo(t *testing.T, args ...string) *instance {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, path, "policies:\n  - {id: tenants, by: [tenant], limits: [2/h]}\n")
	return serve(t, append([]string{"--config", path}, args...)...)
}

// interop asks for everything that the fast lane serves, and for some of what it
// does not, with one client. who names it: it has a limit of its own. early says
// whether it knows what to do with an answer to half a request.
func interop(t *testing.T, who string, early bool, call unaryCall) {
	t.Helper()
	encode := func(m proto.Message) []byte {
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	ask := func(path string, in []byte, out proto.Message) {
		t.Helper()
		b, code := call(t, path, in)
		if code != codes.OK {
			t.Fatalf("%s: %v", path, code)
		}
		if err := proto.Unmarshal(b, out); err != nil {
			t.Fatalf("%s: %x: %v", path, b, err)
		}
	}
	health := new(healthv1.HealthCheckResponse)
	if ask(healthv1.Health_Check_FullMethodName, nil, health); health.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("health: %v", health)
	}
	native := encode(&weirv1.CheckRequest{Domain: "default", Dimensions: []*weirv1.Dimension{{Name: "tenant", Value: who + "-native"}}})
	envoy := encode(&rlsv3.RateLimitRequest{Domain: "default", Descriptors: []*common.RateLimitDescriptor{
		{Entries: []*common.RateLimitDescriptor_Entry{{Key: "tenant", Value: who + "-envoy"}}},
	}})
	for i := range 4 {
		out := new(weirv1.CheckResponse)
		if ask(weirv1.Limiter_Check_FullMethodName, native, out); out.GetAllowed() != (i < 2) {
			t.Errorf("check %d: %v", i, out)
		}
		should, want := new(rlsv3.RateLimitResponse), rlsv3.RateLimitResponse_OK
		if i >= 2 {
			want = rlsv3.RateLimitResponse_OVER_LIMIT
		}
		if ask(rlsv3.RateLimitService_ShouldRateLimit_FullMethodName, envoy, should); should.GetOverallCode() != want || len(should.GetStatuses()) != 1 {
			t.Errorf("should rate limit %d: %v", i, should)
		}
	}
	for _, c := range []struct {
		what, path string
		msg        []byte
		want       codes.Code
		early      bool
	}{
		{"an unknown service", healthv1.Health_Check_FullMethodName, encode(&healthv1.HealthCheckRequest{Service: "nosuch"}), codes.NotFound, false},
		{"an unknown method", "/weir.v1.Limiter/Nosuch", nil, codes.Unimplemented, true},
		{"the admin's method", weirv1.Admin_GetUsage_FullMethodName, nil, codes.Unimplemented, true},
		{"no message of protobuf", weirv1.Limiter_Check_FullMethodName, []byte{0xff}, codes.Internal, false},
		{"a message too large", weirv1.Limiter_Check_FullMethodName, []byte(strings.Repeat("x", 65<<10)), codes.ResourceExhausted, true},
		{"a request that is not valid", weirv1.Limiter_Check_FullMethodName, nil, codes.InvalidArgument, false},
	} {
		if c.early && !early {
			continue
		}
		if _, code := call(t, c.path, c.msg); code != c.want {
			t.Errorf("%s: %v, want %v", c.what, code, c.want)
		}
	}
}

// prefixed is a message as gRPC sends it.
func prefixed(msg []byte) []byte {
	return append(bigendian.BigEndian.AppendUint32([]byte{0}, uint32(len(msg))), msg...)
}

// unprefixed is the message of an answer, none if there is none.
func unprefixed(t *testing.T, b []byte) []byte {
	t.Helper()
	if len(b) == 0 {
		return nil
	}
	if len(b) < 5 || b[0] != 0 || int(bigendian.BigEndian.Uint32(b[1:])) != len(b)-5 {
		t.Fatalf("%x is not one message", b)
	}
	return b[5:]
}
