package unary_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/weirlimit/weir/internal/unary"
	"github.com/weirlimit/weir/internal/unarytest"
)

// stock is grpc-go's server, told the same.
func stock(serving bool) *health.Server {
	s := health.NewServer()
	state := healthv1.HealthCheckResponse_NOT_SERVING
	if serving {
		state = healthv1.HealthCheckResponse_SERVING
	}
	for _, name := range unary.Services {
		s.SetServingStatus(name, state)
	}
	return s
}

// TestHealth: the answers are grpc-go's, through every change.
func TestHealth(t *testing.T) {
	h := new(unary.Health)
	c := healthv1.NewHealthClient(unarytest.Listen(t, map[string]unary.Method{healthv1.Health_Check_FullMethodName: h}))
	for i, serving := range []bool{false, true, false, true} {
		if i > 0 {
			h.Set(serving)
		}
		for _, name := range []string{"", "ratelimit", "nosuch", "ratelimit2"} {
			in := &healthv1.HealthCheckRequest{Service: name}
			want, wantErr := stock(serving).Check(t.Context(), in)
			got, err := c.Check(t.Context(), in)
			if status.Code(err) != status.Code(wantErr) || status.Convert(err).Message() != status.Convert(wantErr).Message() {
				t.Errorf("%q: %v, want %v", name, err, wantErr)
			}
			if err == nil && !proto.Equal(got, want) {
				t.Errorf("%q: %v, want %v", name, got, want)
			}
		}
	}
}

func TestHealthDoesNotAllocate(t *testing.T) {
	h, call := new(unary.Health), new(unarytest.Bare)
	msg := []byte("\x0a\x09ratelimit")
	if n := testing.AllocsPerRun(100, func() { unary.Serve(h, call, msg) }); n != 0 || call.Code != codes.OK {
		t.Errorf("%v allocations, %v", n, call.Code)
	}
}

// FuzzHealth reads what protobuf reads.
func FuzzHealth(f *testing.F) {
	f.Add([]byte("\x0a\x09ratelimit\x10\x01"))
	f.Add([]byte("\x0a\x01\xff\x0a\x00"))
	h := new(unary.Health)
	f.Fuzz(func(t *testing.T, b []byte) {
		var in healthv1.HealthCheckRequest
		want := codes.Internal
		if proto.Unmarshal(b, &in) == nil {
			_, err := stock(false).Check(t.Context(), &in)
			want = status.Code(err)
		}
		_, err := unarytest.Dial(t, nil).Send(t.Context(), h, b)
		if status.Code(err) != want && len(b) < 65 { // below that many bytes groups are not nested too deep
			t.Errorf("%x: %v, want %v", b, err, want)
		}
	})
}
