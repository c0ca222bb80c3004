package native_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/native"
	"github.com/weirlimit/weir/internal/unary"
	"github.com/weirlimit/weir/internal/unarytest"
	"github.com/weirlimit/weir/internal/wire"
)

const policies = `
policies:
  - {id: tenants, by: [tenant], limits: [3/m], on_failure: open}
  - {id: bulk, by: [bulk], limits: [1000/365d fixed_window], lease: auto, on_failure: open}
  - {id: jobs, by: [worker], limits: [1 concurrency 30s], on_failure: open}
`

type client struct {
	weirv1.LimiterClient
	weirv1.AdminClient
}

// decider is an engine on memory.
func decider(t testing.TB) *engine.Engine {
	t.Helper()
	return enginetest.New(t, policies, engine.Options{Deadline: 5 * time.Second})
}

func limiter(t testing.TB) *native.Limiter { return native.NewLimiter(decider(t)) }

// serve serves both services by grpc-go.
func serve(t *testing.T) client { return serveBy(t, decider(t)) }

// each runs a test with Check served by grpc-go, by the fast lane, and by the
// lane's method with memory around it that does not last.
func each(t *testing.T, run func(t *testing.T, c client)) {
	t.Run("stock", func(t *testing.T) { run(t, serve(t)) })
	for by, dialLane := range map[string]func(testing.TB, map[string]unary.Method) grpc.ClientConnInterface{
		"fast": func(t testing.TB, m map[string]unary.Method) grpc.ClientConnInterface { return unarytest.Listen(t, m) },
		"bare": func(t testing.TB, m map[string]unary.Method) grpc.ClientConnInterface { return unarytest.Dial(t, m) },
	} {
		t.Run(by, func(t *testing.T) {
			e := decider(t)
			c := serveBy(t, e)
			conn := dialLane(t, map[string]unary.Method{weirv1.Limiter_Check_FullMethodName: native.NewLane(e)})
			c.LimiterClient = inLane{c.LimiterClient, weirv1.NewLimiterClient(conn)}
			run(t, c)
		})
	}
}

// inLane is a client whose checks go another way.
type inLane struct {
	weirv1.LimiterClient
	lane weirv1.LimiterClient
}

func (c inLane) Check(ctx context.Context, in *weirv1.CheckRequest, o ...grpc.CallOption) (*weirv1.CheckResponse, error) {
	return c.lane.Check(ctx, in, o...)
}

func serveBy(t *testing.T, e *engine.Engine) client {
	t.Helper()
	conn := dial(t, func(g *grpc.Server) {
		weirv1.RegisterLimiterServer(g, native.NewLimiter(e))
		weirv1.RegisterAdminServer(g, native.NewAdmin(e))
	})
	return client{weirv1.NewLimiterClient(conn), weirv1.NewAdminClient(conn)}
}

// dial connects to a server of what is registered.
func dial(t *testing.T, register func(g *grpc.Server)) *grpc.ClientConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	register(g)
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func dims(pairs ...string) []*weirv1.Dimension {
	var out []*weirv1.Dimension
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, &weirv1.Dimension{Name: pairs[i], Value: pairs[i+1]})
	}
	return out
}

func TestCheck(t *testing.T) { each(t, testCheck) }

func testCheck(t *testing.T, c client) {
	ctx := t.Context()
	for i := range 4 {
		out, err := c.Check(ctx, &weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "acme"), WantCharges: true})
		if err != nil {
			t.Fatal(err)
		}
		allowed := i < 3
		if out.GetAllowed() != allowed || (out.GetCode() == weirv1.Code_CODE_OK) != allowed || out.GetRemaining() != int64(max(0, 2-i)) {
			t.Errorf("request %d: %v", i+1, out)
		}
		q := out.GetQuota()
		if q.GetRule() != "tenants" || q.GetLimit() != "3/m" || q.GetCount() != 3 || q.GetScope() != "tenant" || len(out.GetCharges()) != 1 {
			t.Errorf("quota %v", q)
		}
		if !allowed && (out.GetRetryAfterUs() <= 0 || out.GetReason() != weirv1.Reason_REASON_EXHAUSTED) {
			t.Errorf("denial: %v", out)
		}
	}
	back, err := c.Check(ctx, &weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "acme"), Cost: 2, Mode: weirv1.Mode_MODE_REFUND})
	if err != nil || !back.GetAllowed() {
		t.Errorf("refund: %v, %v", back, err)
	}
	look, err := c.Check(ctx, &weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "acme"), Mode: weirv1.Mode_MODE_PEEK})
	if err != nil || look.GetRemaining() != 2 {
		t.Errorf("peek after the refund: %v, %v", look, err)
	}
}

func TestUnknownPolicyIsItsOwnAnswer(t *testing.T) { each(t, testUnknownPolicyIsItsOwnAnswer) }

func testUnknownPolicyIsItsOwnAnswer(t *testing.T, c client) {
	out, err := c.Check(t.Context(), &weirv1.CheckRequest{Domain: "default", Policy: "nosuch", Dimensions: dims("tenant", "a")})
	if err != nil || out.GetCode() != weirv1.Code_CODE_POLICY_NOT_FOUND || out.GetAllowed() {
		t.Errorf("got %v, %v", out, err)
	}
}

func TestBadInput(t *testing.T) { each(t, testBadInput) }

func testBadInput(t *testing.T, c client) {
	for name, in := range map[string]*weirv1.CheckRequest{
		"domain":     {Dimensions: dims("tenant", "a")},
		"cost":       {Domain: "default", Cost: -1},
		"timeout":    {Domain: "default", TimeoutUs: -1},
		"dimensions": {Domain: "default", Dimensions: make([]*weirv1.Dimension, 17)},
		"name":       {Domain: "default", Dimensions: dims("", "a")},
		"value":      {Domain: "default", Dimensions: dims("tenant", strings.Repeat("x", 4097))},
		"long name":  {Domain: "default", Dimensions: dims(strings.Repeat("x", 257), "a")},
		"text": {Domain: "default", Dimensions: dims(
			"a", strings.Repeat("x", 4096), "b", strings.Repeat("x", 4096), "c", strings.Repeat("x", 4096), "d", strings.Repeat("x", 4096),
			"e", strings.Repeat("x", 4096), "f", strings.Repeat("x", 4096), "g", strings.Repeat("x", 4096), "h", strings.Repeat("x", 4096))},
		"twice": {Domain: "default", Dimensions: dims("tenant", "a", "tenant", "b")},
		"id":    {Domain: "default", RequestId: strings.Repeat("x", 257)},
		"mode":  {Domain: "default", Mode: 99},
	} {
		if _, err := c.Check(t.Context(), in); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReleaseGivesBack(t *testing.T) { each(t, testReleaseGivesBack) }

func testReleaseGivesBack(t *testing.T, c client) {
	ctx := t.Context()
	acquire := func(id string) bool {
		out, err := c.Check(ctx, &weirv1.CheckRequest{Domain: "default", Dimensions: dims("worker", "w"), RequestId: id})
		if err != nil {
			t.Fatal(err)
		}
		return out.GetAllowed()
	}
	if !acquire("1") || acquire("2") {
		t.Fatal("one at a time")
	}
	out, err := c.Release(ctx, &weirv1.ReleaseRequest{Domain: "default", Dimensions: dims("worker", "w"), RequestId: "1"})
	if err != nil || out.GetReleased() != 1 || out.GetCode() != weirv1.Code_CODE_OK {
		t.Errorf("released %v, %v", out, err)
	}
	if !acquire("2") {
		t.Error("nothing was released")
	}
}

func TestAdminSeesAndForgets(t *testing.T) { each(t, testAdminSeesAndForgets) }

func testAdminSeesAndForgets(t *testing.T, c client) {
	ctx := t.Context()
	if _, err := c.Check(ctx, &weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "a"), Cost: 2}); err != nil {
		t.Fatal(err)
	}
	use, err := c.GetUsage(ctx, &weirv1.GetUsageRequest{Domain: "default", Dimensions: dims("tenant", "a")})
	if err != nil || len(use.GetUsages()) != 1 || use.GetUsages()[0].GetUsed() != 2 || len(use.GetUsages()[0].GetKey()) == 0 {
		t.Fatalf("usage %v, %v", use, err)
	}
	if _, err := c.ResetKey(ctx, &weirv1.ResetKeyRequest{Domain: "default", Dimensions: dims("tenant", "a")}); err != nil {
		t.Fatal(err)
	}
	if use, _ := c.GetUsage(ctx, &weirv1.GetUsageRequest{Domain: "default", Dimensions: dims("tenant", "a")}); use.GetUsages()[0].GetUsed() != 0 {
		t.Errorf("after reset: %v", use)
	}
}

// TestBatchAnswersEachOnce sends many checks over one stream, good and bad, and
// closes its side: every one is answered under its number, then the stream ends.
func TestBatchAnswersEachOnce(t *testing.T) {
	c := serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, err := c.CheckBatch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	const messages, each = 40, 250
	go func() {
		for m := range messages {
			in := &weirv1.CheckBatchRequest{}
			for i := range each {
				n := uint64(m*each + i)
				check := &weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "t"), Number: n}
				if n%100 == 7 {
					check.Cost = -1
				}
				in.Checks = append(in.Checks, check)
			}
			if s.Send(in) != nil {
				return
			}
		}
		_ = s.CloseSend()
	}()
	seen := make(map[uint64]bool)
	allowed, failed := 0, 0
	for {
		out, err := s.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out.GetResults() {
			if seen[r.GetNumber()] {
				t.Fatalf("%d is answered twice", r.GetNumber())
			}
			seen[r.GetNumber()] = true
			if r.GetAllowed() {
				allowed++
			}
			if r.GetCode() == weirv1.Code_CODE_ERROR {
				failed++
				if r.GetError().GetField() != "cost" {
					t.Errorf("error %v", r.GetError())
				}
			}
		}
	}
	if len(seen) != messages*each || allowed != 3 || failed != messages*each/100 {
		t.Errorf("%d answers, %d allowed, %d failed", len(seen), allowed, failed)
	}
}

// told is an engine and a Gatherer that note what they are told.
type told struct {
	*engine.Engine
	events chan string
}

func (e told) Submit(r *weir.Request, d *weir.Decision, done func(error)) {
	e.events <- "submit"
	e.Engine.Submit(r, d, done)
}

func (e told) Gather()   { e.events <- "gather" }
func (e told) Gathered() { e.events <- "gathered" }

// The checks of one message are gathered, also when one is refused; a lone one waits
// for nobody.
func TestBatchIsGathered(t *testing.T) {
	e := told{decider(t), make(chan string, 64)}
	conn := dial(t, func(g *grpc.Server) {
		weirv1.RegisterLimiterServer(g, native.NewLimiter(e).GatherBy(e))
	})
	s, err := weirv1.NewLimiterClient(conn).CheckBatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	good := &weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "t")}
	bad := &weirv1.CheckRequest{Domain: "default", Cost: -1}
	for _, tc := range []struct {
		checks []*weirv1.CheckRequest
		want   string
	}{
		{[]*weirv1.CheckRequest{good}, "submit"},
		{[]*weirv1.CheckRequest{good, good, good}, "gather submit submit submit gathered"},
		{[]*weirv1.CheckRequest{bad, good}, "gather submit gathered"},
	} {
		if err := s.Send(&weirv1.CheckBatchRequest{Checks: tc.checks}); err != nil {
			t.Fatal(err)
		}
		for left := len(tc.checks); left > 0; {
			out, err := s.Recv()
			if err != nil {
				t.Fatal(err)
			}
			left -= len(out.GetResults())
		}
		var got []string
		for range strings.Fields(tc.want) {
			got = append(got, <-e.events)
		}
		if strings.Join(got, " ") != tc.want || len(e.events) > 0 {
			t.Errorf("%d checks: %v and %d more, want %s", len(tc.checks), got, len(e.events), tc.want)
		}
	}
}

func TestBatchIsBounded(t *testing.T) {
	c := serve(t)
	s, err := c.CheckBatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(&weirv1.CheckBatchRequest{Checks: make([]*weirv1.CheckRequest, wire.MaxChecks+1)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); status.Code(err) != codes.InvalidArgument {
		t.Errorf("got %v", err)
	}
}

// TestSpentIsChargedPastTheLimit: 5 of 3 are spent, which the answer says; then
// nothing passes.
func TestSpentIsChargedPastTheLimit(t *testing.T) { each(t, testSpentIsChargedPastTheLimit) }

func testSpentIsChargedPastTheLimit(t *testing.T, c client) {
	in := &weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "acme"), Cost: 5, Mode: weirv1.Mode_MODE_SPENT, WantCharges: true}
	out, err := c.Check(t.Context(), in)
	if err != nil || out.GetCode() != weirv1.Code_CODE_DENY || out.GetCharges()[0].GetGranted() != 5 || out.GetCharges()[0].GetMode() != weirv1.ChargeMode_CHARGE_MODE_ALWAYS {
		t.Errorf("spent: %v, %v", out, err)
	}
	next, err := c.Check(t.Context(), &weirv1.CheckRequest{Domain: "default", Dimensions: dims("tenant", "acme")})
	if err != nil || next.GetAllowed() {
		t.Errorf("next: %v, %v", next, err)
	}
}
