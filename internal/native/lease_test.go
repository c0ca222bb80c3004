package native_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/native"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/redisstore"
)

func TestLease(t *testing.T) {
	c := serve(t)
	in := &weirv1.LeaseRequest{Domain: "default", Dimensions: dims("bulk", "a"), Want: 80}
	out, err := c.Lease(t.Context(), in)
	if err != nil || out.GetCode() != weirv1.Code_CODE_OK || out.GetGranted() != 50 || out.GetRemaining() != 950 ||
		out.GetExpiresAfterUs() < 400_000 || out.GetExpiresAfterUs() > 500_000 || out.GetRetryAfterUs() != 0 ||
		out.GetQuota().GetRule() != "bulk" || out.GetQuota().GetScope() != "bulk" || out.GetQuota().GetCount() != 1000 || out.GetPolicyVersion() == "" {
		t.Fatalf("%v, %v", out, err)
	}
	if _, err := c.Check(t.Context(), &weirv1.CheckRequest{Domain: "default", Dimensions: dims("bulk", "a"), Cost: 950}); err != nil {
		t.Fatal(err)
	}
	out, err = c.Lease(t.Context(), in)
	if err != nil || out.GetCode() != weirv1.Code_CODE_DENY || out.GetGranted() != 0 || out.GetExpiresAfterUs() != 0 ||
		out.GetRetryAfterUs() <= 0 || out.GetReason() != weirv1.Reason_REASON_EXHAUSTED {
		t.Errorf("nothing left: %v, %v", out, err)
	}
	none, err := c.Lease(t.Context(), &weirv1.LeaseRequest{Domain: "nobody", Want: 7})
	if err != nil || none.GetGranted() != 7 || none.GetQuota() != nil || none.GetReason() != weirv1.Reason_REASON_NO_RULE {
		t.Errorf("where nothing applies: %v, %v", none, err)
	}
}

func TestLeaseErrors(t *testing.T) {
	c := serve(t)
	for name, tc := range map[string]struct {
		in   *weirv1.LeaseRequest
		text string
	}{
		"domain":      {&weirv1.LeaseRequest{Want: 1}, "domain"},
		"want":        {&weirv1.LeaseRequest{Domain: "default", Dimensions: dims("bulk", "a")}, "want: 0"},
		"too much":    {&weirv1.LeaseRequest{Domain: "default", Dimensions: dims("bulk", "a"), Want: weir.MaxCount + 1}, "want: 10000001"},
		"timeout":     {&weirv1.LeaseRequest{Domain: "default", Want: 1, TimeoutUs: -1}, "timeout_us"},
		"not leased":  {&weirv1.LeaseRequest{Domain: "default", Dimensions: dims("tenant", "a"), Want: 1}, "lease: auto"},
		"in progress": {&weirv1.LeaseRequest{Domain: "default", Dimensions: dims("worker", "a"), Want: 1}, "policy jobs is not leased"},
	} {
		if _, err := c.Lease(t.Context(), tc.in); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	out, err := c.Lease(t.Context(), &weirv1.LeaseRequest{Domain: "default", Policy: "nosuch", Want: 1})
	if err != nil || out.GetCode() != weirv1.Code_CODE_POLICY_NOT_FOUND {
		t.Errorf("no such policy: %v, %v", out, err)
	}
}

// TestLeaseNeedsTheStore: a Redis that is stopped, and one that is gone, are
// UNAVAILABLE, although the policy is open and its checks pass.
func TestLeaseNeedsTheStore(t *testing.T) {
	server := redistest.Start(t)
	s, err := redisstore.New(t.Context(), redisstore.Options{Addrs: []string{server.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	l := native.NewLimiter(enginetest.New(t, policies, engine.Options{Store: s, Deadline: 200 * time.Millisecond}))
	in := &weirv1.LeaseRequest{Domain: "default", Dimensions: dims("bulk", "a"), Want: 5}
	refused := func(why string) {
		t.Helper()
		lease, err := l.Lease(t.Context(), in)
		if text := status.Convert(err).Message(); status.Code(err) != codes.Unavailable ||
			strings.Contains(text, "127.0.0.1") || strings.Contains(text, "redis") {
			t.Errorf("%s: %v, %v; want no word of what the store is", why, lease, err)
		}
		out, err := l.Check(t.Context(), &weirv1.CheckRequest{Domain: "default", Dimensions: dims("bulk", "a")})
		if err != nil || !out.GetAllowed() || out.GetReason() != weirv1.Reason_REASON_DEGRADED {
			t.Errorf("%s: a check: %v, %v", why, out, err)
		}
	}
	server.Pause()
	refused("stopped")
	server.Resume()
	server.Stop()
	refused("gone")
}

// FuzzLease sends whatever decodes: it is answered, or refused as the caller's
// mistake.
func FuzzLease(f *testing.F) {
	l := limiter(f)
	seed, err := proto.Marshal(&weirv1.LeaseRequest{Domain: "default", Dimensions: dims("bulk", "a"), Want: 2})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		var in weirv1.LeaseRequest
		if proto.Unmarshal(b, &in) != nil {
			return
		}
		out, err := l.Lease(t.Context(), &in)
		switch status.Code(err) {
		case codes.OK:
			if out.GetGranted() > in.GetWant() || out.GetGranted() > 0 != (out.GetExpiresAfterUs() > 0) {
				t.Errorf("%v: %v", &in, out)
			}
		case codes.InvalidArgument, codes.Unavailable: // the latter of a timeout of microseconds
		default:
			t.Errorf("%v: %v", &in, err)
		}
	})
}
