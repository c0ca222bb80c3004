package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

// TestEnginesTellTheSame asks two servers, one of each engine, for the same, and
// holds their metrics against each other: what was decided is counted alike, and
// but for weir_grpc_ there is nothing that only one has.
func TestEnginesTellTheSame(t *testing.T) {
	t.Parallel()
	told := map[string]map[string]bool{}
	for _, engine := range engines {
		w := serveTwo(t, "--grpc-engine", engine)
		askForAll(t, w)
		told[engine] = map[string]bool{}
		for name, family := range w.metrics() {
			if strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") || strings.HasPrefix(name, "weir_grpc_") {
				continue
			}
			told[engine][name] = true
			if name != "weir_decisions_total" && name != "weir_errors_total" {
				continue
			}
			for _, m := range family.GetMetric() {
				told[engine][fmt.Sprint(name, m.GetLabel(), m.GetCounter().GetValue())] = true
			}
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(told[engine])), func(s string) bool { return strings.HasPrefix(s, "weir_decisions_total[") }) {
			t.Errorf("%s counts no decisions: %v", engine, told[engine])
		}
		if _, there := w.metrics()["weir_grpc_connections"]; there != (engine == "fast") {
			t.Errorf("%s: weir_grpc_connections: %v", engine, there)
		}
	}
	for _, pair := range [][2]string{{"fast", "stock"}, {"stock", "fast"}} {
		for s := range told[pair[0]] {
			if !told[pair[1]][s] {
				t.Errorf("only %s tells %s", pair[0], s)
			}
		}
	}
}

// askForAll asks for decisions in all ways there are, and for what is refused.
func askForAll(t *testing.T, w *instance) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn := dialGRPC(t, w.grpc)
	limiter, envoy := weirv1.NewLimiterClient(conn), rlsv3.NewRateLimitServiceClient(conn)
	for range 3 { // of a limit of 2
		if _, err := limiter.Check(ctx, &weirv1.CheckRequest{Domain: "default", Dimensions: []*weirv1.Dimension{{Name: "tenant", Value: "native"}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := envoy.ShouldRateLimit(ctx, &rlsv3.RateLimitRequest{Domain: "default", Descriptors: []*common.RateLimitDescriptor{
			{Entries: []*common.RateLimitDescriptor_Entry{{Key: "tenant", Value: "envoy"}}},
		}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := limiter.Check(ctx, &weirv1.CheckRequest{}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a check of nothing: %v", err)
	}
	if _, err := envoy.ShouldRateLimit(ctx, &rlsv3.RateLimitRequest{}); err == nil {
		t.Error("a request of nothing passes")
	}
	batch, err := limiter.CheckBatch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := batch.Send(&weirv1.CheckBatchRequest{Checks: []*weirv1.CheckRequest{
		{Domain: "default", Dimensions: []*weirv1.Dimension{{Name: "tenant", Value: "batch"}}},
	}}); err != nil {
		t.Fatal(err)
	}
	if _, err := batch.Recv(); err != nil {
		t.Fatal(err)
	}
}

// TestTermTellsWatchers: who watches the health of a server that is told to stop
// learns of it while the stream lasts.
func TestTermTellsWatchers(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testTermTellsWatchers)
}

func testTermTellsWatchers(t *testing.T) {
	w := serveTwo(t, "--drain", "2s")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, name := range []string{"", "ratelimit"} {
		watch, err := healthv1.NewHealthClient(dialGRPC(t, w.grpc)).Watch(ctx, &healthv1.HealthCheckRequest{Service: name})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { // after the signal
			if out, err := watch.Recv(); err != nil || out.GetStatus() != healthv1.HealthCheckResponse_NOT_SERVING {
				t.Errorf("%q when it is told to stop: %v, %v", name, out, err)
			}
		}()
		if out, err := watch.Recv(); err != nil || out.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("%q: %v, %v", name, out, err)
		}
	}
	began := time.Now()
	w.signal(syscall.SIGTERM)
	w.awaitEnd(began)
}

// TestCompressionIsRefused: no compression is known, and the answer says so and
// which are: identity, that is none. What is not compressed passes whatever else
// the client would take.
func TestCompressionIsRefused(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testCompressionIsRefused)
}

func testCompressionIsRefused(t *testing.T) {
	w := serveTwo(t)
	ask := nghttpAt("http://" + w.grpc)
	health := healthv1.Health_Check_FullMethodName
	for _, encoding := range []string{"gzip", "deflate", "snappy", "br"} {
		said := ask(t, health, nil, "-nv", "-H", "grpc-encoding: "+encoding)
		_, answer, _ := strings.Cut(said, ":status: 200")
		if statusIn(t, said) != codes.Unimplemented || !strings.Contains(answer, encoding) || strings.Contains(answer, "recv DATA") {
			t.Errorf("%s: %s", encoding, said)
		}
		// grpc-go leaves it out.
		if engineOf(t) == "fast" && !strings.Contains(answer, "grpc-accept-encoding: identity\n") {
			t.Errorf("%s, it does not say what it would take: %s", encoding, said)
		}
	}
	for _, field := range []string{"grpc-encoding: identity", "grpc-accept-encoding: gzip, br"} {
		if said := ask(t, health, nil, "-nv", "-H", field); statusIn(t, said) != codes.OK || !strings.Contains(said, "recv DATA") {
			t.Errorf("%s: %s", field, said)
		}
	}
}
