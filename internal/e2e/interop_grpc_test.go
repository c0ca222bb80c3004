package e2e

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

// asBytes passes messages through as they are.
type asBytes struct{}

func (asBytes) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (asBytes) Unmarshal(b []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), b...)
	return nil
}
func (asBytes) Name() string { return "proto" }

// invoke makes calls with grpc-go's client.
func invoke(ctx context.Context, conn *grpc.ClientConn) unaryCall {
	return func(_ *testing.T, path string, msg []byte) ([]byte, codes.Code) {
		var out []byte
		err := conn.Invoke(ctx, path, &msg, &out, grpc.ForceCodec(asBytes{}))
		return out, status.Code(err)
	}
}

// TestInteropGRPC: grpc-go's client, with unary calls and streams on one
// connection.
func TestInteropGRPC(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testInteropGRPC)
}

func testInteropGRPC(t *testing.T) {
	w := serveTwo(t)
	conn := dialGRPC(t, w.grpc)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	interop(t, "grpc-go", true, invoke(ctx, conn))
	health := healthv1.NewHealthClient(conn)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { // streams of the fallback
			b, err := weirv1.NewLimiterClient(conn).CheckBatch(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			for range 50 {
				if err := b.Send(&weirv1.CheckBatchRequest{Checks: []*weirv1.CheckRequest{{
					Domain: "default", Dimensions: []*weirv1.Dimension{{Name: "tenant", Value: "batch"}},
				}}}); err != nil {
					t.Error(err)
					return
				}
				if out, err := b.Recv(); err != nil || len(out.GetResults()) != 1 {
					t.Errorf("%v, %v", out, err)
					return
				}
			}
			_ = b.CloseSend()
			if _, err := b.Recv(); err != io.EOF {
				t.Errorf("the end of a stream: %v", err)
			}
		})
		all.Go(func() { // cancelled: the connection goes on
			ctx, cancel := context.WithCancel(ctx)
			s, err := health.Watch(ctx, &healthv1.HealthCheckRequest{})
			if err == nil {
				_, err = s.Recv()
			}
			if err != nil {
				t.Error(err)
			}
			cancel()
			if _, err := s.Recv(); status.Code(err) != codes.Canceled {
				t.Errorf("a watch that was cancelled: %v", err)
			}
		})
		all.Go(func() {
			for range 200 {
				if _, err := health.Check(ctx, &healthv1.HealthCheckRequest{}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()

	if _, err := health.Check(ctx, &healthv1.HealthCheckRequest{}, grpc.UseCompressor(gzip.Name)); status.Code(err) != codes.Unimplemented ||
		!strings.Contains(err.Error(), "gzip") {
		t.Errorf("a compressed call: %v", err)
	}
	large := metadata.AppendToOutgoingContext(ctx, "x-large", strings.Repeat("m", 14_000))
	if _, err := health.Check(large, &healthv1.HealthCheckRequest{}); err != nil {
		t.Errorf("14 kB of metadata: %v", err)
	}
	large = metadata.AppendToOutgoingContext(ctx, "x-large", strings.Repeat("m", 20_000))
	if _, err := health.Check(large, &healthv1.HealthCheckRequest{}); err == nil || status.Code(err) == codes.Unavailable {
		t.Errorf("20 kB of metadata: %v", err)
	}
	past, cancelPast := context.WithTimeout(ctx, time.Nanosecond)
	defer cancelPast()
	if _, err := health.Check(past, &healthv1.HealthCheckRequest{}); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a deadline that is past: %v", err)
	}
	if _, err := health.Check(ctx, &healthv1.HealthCheckRequest{}); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

// TestInteropPings: a client that asks for a sign of life, as those that keep a
// connection alive do, gets one. (grpc-go's own would ask after ten seconds.)
func TestInteropPings(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testInteropPings)
}

func testInteropPings(t *testing.T) {
	w := serveTwo(t)
	nc, err := (&net.Dialer{Timeout: patience}).DialContext(t.Context(), "tcp", w.grpc)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = nc.Close() }()
	_ = nc.SetDeadline(time.Now().Add(patience))
	fr := http2.NewFramer(nc, nc)
	if _, err := io.WriteString(nc, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := fr.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	pings := byte(100)
	if engineOf(t) == "stock" {
		pings = 2 // grpc-go leaves who asks more often than every 10 s
	}
	for i := range pings {
		want := [8]byte{'p', 'i', 'n', 'g', i}
		if err := fr.WritePing(false, want); err != nil {
			t.Fatal(err)
		}
		for {
			f, err := fr.ReadFrame()
			if err != nil {
				t.Fatal(err)
			}
			if ping, ok := f.(*http2.PingFrame); ok {
				if !ping.IsAck() || ping.Data != want {
					t.Fatalf("%v %q", ping, ping.Data)
				}
				break
			}
		}
	}
}
