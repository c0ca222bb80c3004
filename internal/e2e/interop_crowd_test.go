package e2e

import (
	"context"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// TestCrowd: ten thousand connections come to a server that takes 256 at once,
// or as many as the system queues. Some say nothing, some half a preface, some
// all of it and nothing more. A client that was there goes on, one that comes
// when they have gone is served, and the server hardly grows.
func TestCrowd(t *testing.T) {
	for _, engine := range engines { // one after the other: it takes the system's queue
		t.Run(engine, testCrowd)
	}
}

func testCrowd(t *testing.T) {
	const crowd, at, most = 10_000, 256, 64 << 20
	w := serveTwo(t, "--max-connections", "256")
	health := healthv1.NewHealthClient(dialGRPC(t, w.grpc))
	ask := func(c healthv1.HealthClient) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if _, err := c.Check(ctx, &healthv1.HealthCheckRequest{}, grpc.WaitForReady(true)); err != nil {
			t.Fatal(err)
		}
	}
	ask(health)
	memory := func() float64 { return gauge(w.metrics()["process_resident_memory_bytes"]) }
	before := memory()

	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	says := []string{"", preface[:9], preface}
	var peak float64
	var opened []net.Conn
	for i := range crowd {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", w.grpc)
		cancel()
		if err != nil {
			break // the system's queue is full as well
		}
		opened = append(opened, nc)
		_, _ = nc.Write([]byte(says[i%len(says)])) // some are closed already
		if i%500 == 0 {
			ask(health)
			peak = max(peak, memory())
			if n := gauge(w.metrics()["weir_grpc_connections"]); n > at {
				t.Errorf("%v connections", n)
			}
		}
	}
	for _, nc := range opened {
		_ = nc.Close()
	}
	if len(opened) < 2*at {
		t.Errorf("only %d came", len(opened))
	}
	if peak > before+most {
		t.Errorf("the server grew by %.0f MiB", (peak-before)/(1<<20))
	}
	ask(healthv1.NewHealthClient(dialGRPC(t, w.grpc)))
	t.Logf("%d came, the server grew by %.1f MiB", len(opened), (peak-before)/(1<<20))
}
