package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir/internal/redistest"
)

// TestCallersDeadline: with a Redis that takes requests and says nothing, a call
// is answered by its policy's fail mode when its own time is over, if that is
// before --deadline, and else by --deadline. A client that keeps the time itself
// gets that answer or DEADLINE_EXCEEDED, and none that is late.
func TestCallersDeadline(t *testing.T) {
	t.Parallel()
	onEachEngine(t, testCallersDeadline)
}

func testCallersDeadline(t *testing.T) {
	redis := redistest.Start(t)
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write(t, path, modePolicies)
	patient := serve(t, "--config", path, "--redis", redis.Addr(), "--deadline", "25s")
	hasty := serve(t, "--config", path, "--redis", redis.Addr(), "--deadline", "100ms")
	for _, w := range []*instance{patient, hasty} {
		if resp, body := w.check("payer"); !strings.Contains(body, `"source":"store"`) {
			t.Fatalf("before: %d %s", resp.StatusCode, body)
		}
	}
	redis.Pause()
	for _, c := range []struct {
		what    string
		w       *instance
		timeout string
	}{
		{"the caller's is less", patient, "300m"},
		{"--deadline is less", hasty, "30S"},
	} {
		if c.w == patient && engineOf(t) == "stock" {
			continue // grpc-go may be first, and resets the stream
		}
		for dimension, passes := range map[string]bool{"reader": true, "payer": false} {
			began := time.Now()
			allowed, code := askedBy(t, c.w, dimension, c.timeout)
			took := time.Since(began)
			if code != codes.OK || allowed != passes {
				t.Errorf("%s, %s: %v, allowed %v", c.what, dimension, code, allowed)
			}
			if took > 15*time.Second { // the longer of the two is 25 s at least
				t.Errorf("%s, %s: answered after %v", c.what, dimension, took)
			}
		}
	}
	keepsTime(t, patient)
	redis.Resume()
	await(t, "Redis to be asked again", func() error {
		if resp, body := patient.check("payer"); !strings.Contains(body, `"source":"store"`) {
			return fmt.Errorf("%d %s", resp.StatusCode, body)
		}
		return nil
	})
}

// askedBy asks Envoy's service with curl, which sends a grpc-timeout and keeps no
// time of its own.
func askedBy(t *testing.T, w *instance, dimension, timeout string) (allowed bool, code codes.Code) {
	t.Helper()
	msg, err := proto.Marshal(&rlsv3.RateLimitRequest{Domain: "default", Descriptors: []*common.RateLimitDescriptor{
		{Entries: []*common.RateLimitDescriptor_Entry{{Key: dimension, Value: "acme"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	b, code := curl("http://"+w.grpc, "--http2-prior-knowledge", "-H", "grpc-timeout: "+timeout)(t, rlsv3.RateLimitService_ShouldRateLimit_FullMethodName, msg)
	out := new(rlsv3.RateLimitResponse)
	if err := proto.Unmarshal(b, out); err != nil {
		t.Fatal(err)
	}
	return out.GetOverallCode() == rlsv3.RateLimitResponse_OK, code
}

// keepsTime asks with grpc-go's client, which does.
func keepsTime(t *testing.T, w *instance) {
	t.Helper()
	limiter := weirv1.NewLimiterClient(dialGRPC(t, w.grpc))
	for range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		out, err := limiter.Check(ctx, &weirv1.CheckRequest{Domain: "default", Dimensions: []*weirv1.Dimension{{Name: "payer", Value: "acme"}}})
		cancel()
		if code := status.Code(err); code != codes.DeadlineExceeded && (err != nil || out.GetAllowed() || out.GetSource() != weirv1.Source_SOURCE_BACKSTOP) {
			t.Errorf("%v, %v", out, err)
		}
	}
}
