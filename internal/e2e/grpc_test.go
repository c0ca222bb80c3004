package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

func dialGRPC(t *testing.T, addr string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestGRPCSurface: what is on the data listener besides decisions, what is not,
// and how large a message may be.
func TestGRPCSurface(t *testing.T) { onEachEngine(t, testGRPCSurface) }

func testGRPCSurface(t *testing.T) {
	w := serve(t)
	data, admin := dialGRPC(t, w.grpc), dialGRPC(t, w.admin)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()

	for _, name := range []string{"", "ratelimit"} {
		out, err := healthv1.NewHealthClient(data).Check(ctx, &healthv1.HealthCheckRequest{Service: name})
		if err != nil || out.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("health of %q: %v, %v", name, out, err)
		}
	}

	services := reflected(ctx, t, data)
	for _, want := range []string{"envoy.service.ratelimit.v3.RateLimitService", "weir.v1.Limiter", "grpc.health.v1.Health"} {
		if !slices.Contains(services, want) {
			t.Errorf("reflection does not list %s: %v", want, services)
		}
	}
	if slices.Contains(services, "weir.v1.Admin") {
		t.Error("the data listener lists the Admin service")
	}

	usage := &weirv1.GetUsageRequest{Domain: "default", Dimensions: []*weirv1.Dimension{{Name: "tenant", Value: "acme"}}}
	if _, err := weirv1.NewAdminClient(data).GetUsage(ctx, usage); status.Code(err) != codes.Unimplemented {
		t.Errorf("GetUsage on the data listener: %v", err)
	}
	if out, err := weirv1.NewAdminClient(admin).GetUsage(ctx, usage); err != nil || len(out.GetUsages()) != 1 {
		t.Errorf("GetUsage on the admin listener: %v, %v", out, err)
	}

	large := &weirv1.CheckRequest{Domain: "default", RequestId: strings.Repeat("x", 65<<10)}
	if _, err := weirv1.NewLimiterClient(data).Check(ctx, large); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a message of 65 KiB: %v", err)
	}
}

func reflected(ctx context.Context, t *testing.T, conn *grpc.ClientConn) []string {
	t.Helper()
	s, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ask := &reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}
	if err := s.Send(ask); err != nil {
		t.Fatal(err)
	}
	out, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, svc := range out.GetListServicesResponse().GetService() {
		names = append(names, svc.GetName())
	}
	return names
}
