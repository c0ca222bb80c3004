package grpclimit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	echo "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/grpclimit"
)

const (
	ok      = codes.OK
	tooMany = codes.ResourceExhausted

	perTenant = "policies:\n  - {id: tenants, by: [tenant], limits: [10/h], on_failure: open}\n"
)

func TestAllowsAndDenies(t *testing.T) {
	c := protect(t, &service{}, decider(t, "policies:\n  - {id: peers, match: {route: /grpc.testing.TestService/Unary*}, by: [ip, route], limits: [2/h], on_failure: open}\n"))
	for i := range 3 {
		var header metadata.MD
		_, err := c.UnaryCall(t.Context(), &echo.SimpleRequest{}, grpc.Header(&header))
		if allowed := i < 2; (err == nil) != allowed {
			t.Fatalf("call %d: %v", i, err)
		}
		for _, name := range []string{"ratelimit", "ratelimit-policy", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-policy", "x-ratelimit-scope"} {
			if len(header.Get(name)) != 1 {
				t.Errorf("call %d: no %s in %v", i, name, header)
			}
		}
		if (len(header.Get("retry-after")) == 1) != (i == 2) {
			t.Errorf("call %d: retry-after in %v", i, header)
		}
		if i < 2 {
			continue
		}
		if header.Get("x-ratelimit-scope")[0] != "ip,route" || header.Get("x-ratelimit-remaining")[0] != "0" {
			t.Errorf("denial: %v", header)
		}
		checkDetails(t, err)
	}
	if _, err := c.EmptyCall(t.Context(), &echo.Empty{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("another method: %v", err)
	}
}

// checkDetails: a denial by peers, to be tried again in an hour, or two.
func checkDetails(t *testing.T, err error) {
	t.Helper()
	s := status.Convert(err)
	if s.Code() != tooMany {
		t.Fatalf("status %v", s)
	}
	seen := 0
	for _, d := range s.Details() {
		switch d := d.(type) {
		case *errdetails.RetryInfo:
			if at := d.GetRetryDelay().AsDuration(); at < time.Hour || at > 2*time.Hour {
				t.Errorf("retry after %v", at)
			}
			seen++
		case *errdetails.QuotaFailure:
			v := d.GetViolations()[0]
			if v.GetQuotaId() != "peers" || v.GetSubject() != "ip,route" || v.GetQuotaValue() != 2 || v.GetDescription() != "2/h: exhausted" {
				t.Errorf("violation %v", v)
			}
			seen++
		}
	}
	if seen != 2 {
		t.Errorf("details %v", s.Details())
	}
}

func TestTooCostlyHasNoRetry(t *testing.T) {
	c := protect(t, &service{}, decider(t, perTenant), byTenant, grpclimit.WithCost(func(context.Context, *grpclimit.Call) int64 { return 11 }))
	var header metadata.MD
	_, err := c.UnaryCall(as(t, "a"), &echo.SimpleRequest{}, grpc.Header(&header))
	s := status.Convert(err)
	if s.Code() != tooMany || len(header.Get("retry-after")) > 0 || len(s.Details()) != 1 {
		t.Errorf("%v, %v, %v", s, s.Details(), header)
	}
}

// TestWhoIsCharged: tenants of their own, skipped methods, free calls, costs.
func TestWhoIsCharged(t *testing.T) {
	cost := func(_ context.Context, c *grpclimit.Call) int64 {
		if c.Method != unaryMethod || c.Stream {
			t.Errorf("call %+v", c)
		}
		return int64(c.Message.(*echo.SimpleRequest).GetResponseSize())
	}
	c := protect(t, &service{}, decider(t, perTenant), byTenant, grpclimit.WithCost(cost), grpclimit.WithoutHeaders(),
		grpclimit.WithSkip(func(ctx context.Context, _ *grpclimit.Call) bool {
			return slices.Contains(metadata.ValueFromIncomingContext(ctx, "x-tenant"), "staff")
		}))
	for _, step := range []struct {
		tenant string
		cost   int32
		want   []codes.Code
	}{
		{"a", 4, []codes.Code{ok, ok, tooMany}},
		{"b", 4, []codes.Code{ok, ok, tooMany}},
		{"a", 2, []codes.Code{ok, tooMany}},
		{"a", 0, []codes.Code{ok, ok, ok}},
		{"staff", 10, []codes.Code{ok, ok, ok}},
	} {
		if got := call(as(t, step.tenant), c, &echo.SimpleRequest{ResponseSize: step.cost}, len(step.want)); !slices.Equal(got, step.want) {
			t.Errorf("%s at %d: %v, want %v", step.tenant, step.cost, got, step.want)
		}
	}
	var header metadata.MD
	if _, err := c.UnaryCall(as(t, "c"), &echo.SimpleRequest{}, grpc.Header(&header)); err != nil || len(header.Get("ratelimit")) > 0 {
		t.Errorf("%v, %v", header, err)
	}
}

func TestSkippedMethods(t *testing.T) {
	c := protect(t, &service{}, decider(t, "policies:\n  - {id: all, limits: [1/h], on_failure: open}\n"), grpclimit.WithSkip(grpclimit.Methods("/grpc.health.v1.Health/*", "/grpc.testing.TestService/EmptyCall")))
	for range 3 {
		if _, err := c.EmptyCall(t.Context(), &echo.Empty{}); status.Code(err) != codes.Unimplemented {
			t.Errorf("skipped: %v", err)
		}
	}
	if got := call(t.Context(), c, &echo.SimpleRequest{}, 2); !slices.Equal(got, []codes.Code{ok, tooMany}) {
		t.Errorf("not skipped: %v", got)
	}
	skip := grpclimit.Methods("/grpc.health.v1.Health/*")
	for method, want := range map[string]bool{"/grpc.health.v1.Health/Check": true, "/grpc.health.v1.Health/../shop.v1.Orders/Place": false} {
		if skip(t.Context(), &grpclimit.Call{Method: method}) != want {
			t.Errorf("%s is skipped: %v", method, !want)
		}
	}
}

// TestCostAfter: by bytes sent, and by a number in the trailer; a failed call
// costs what its handler says, too. Whoever overspends is denied next.
func TestCostAfter(t *testing.T) {
	for name, tc := range map[string]struct {
		cost func(context.Context, *grpclimit.Call, *grpclimit.Result) int64
		in   *echo.SimpleRequest
		want []codes.Code
	}{
		"bytes":            {grpclimit.BytesCost(1024), &echo.SimpleRequest{ResponseSize: 5 << 10}, []codes.Code{ok, ok, tooMany}}, // 1 + 6 a call
		"the trailer":      {grpclimit.TrailerCost("X-Units"), &echo.SimpleRequest{FillServerId: true}, []codes.Code{ok, ok, tooMany}},
		"no trailer":       {grpclimit.TrailerCost("x-units"), &echo.SimpleRequest{}, []codes.Code{ok, ok, ok}},
		"of a failed call": {grpclimit.TrailerCost("x-units"), &echo.SimpleRequest{FillServerId: true, ResponseStatus: &echo.EchoStatus{Code: 5}}, []codes.Code{codes.NotFound, codes.NotFound, tooMany}},
		"given back":       {func(context.Context, *grpclimit.Call, *grpclimit.Result) int64 { return -1 }, &echo.SimpleRequest{}, slices.Repeat([]codes.Code{ok}, 15)},
		"received": {func(_ context.Context, _ *grpclimit.Call, r *grpclimit.Result) int64 { return r.Received }, &echo.SimpleRequest{
			Payload: &echo.Payload{Body: make([]byte, 8)},
		}, []codes.Code{ok, tooMany}}, // 1 + 12
	} {
		c := protect(t, &service{}, decider(t, perTenant), byTenant, grpclimit.WithCostAfter(tc.cost))
		if got := call(as(t, "a"), c, tc.in, len(tc.want)); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// TestRefund: what this side failed at is free; a panic is such a failure, and
// leaves nothing held.
func TestRefund(t *testing.T) {
	c := protect(t, &service{}, decider(t, "policies:\n  - {id: tenants, by: [tenant], limits: [2/h], concurrency: 1, on_failure: open}\n"),
		byTenant, grpclimit.WithRefund(grpclimit.ServerErrors), grpclimit.WithCostAfter(grpclimit.TrailerCost("x-units")))
	panics, fails, wrong := &echo.SimpleRequest{FillUsername: true}, &echo.SimpleRequest{ResponseStatus: &echo.EchoStatus{Code: 14}}, &echo.SimpleRequest{ResponseStatus: &echo.EchoStatus{Code: 3}}
	if got := call(as(t, "a"), c, panics, 4); !slices.Equal(got, slices.Repeat([]codes.Code{codes.Internal}, 4)) {
		t.Errorf("panics: %v", got)
	}
	if got := call(as(t, "a"), c, fails, 4); !slices.Equal(got, slices.Repeat([]codes.Code{codes.Unavailable}, 4)) {
		t.Errorf("failures: %v", got)
	}
	if got := call(as(t, "a"), c, wrong, 3); !slices.Equal(got, []codes.Code{codes.InvalidArgument, codes.InvalidArgument, tooMany}) {
		t.Errorf("mistakes of the caller: %v", got)
	}
}

// TestConcurrency: a place is held while the handler runs, with ids from the
// first or once they turn out to be needed.
func TestConcurrency(t *testing.T) {
	for name, opts := range map[string][]grpclimit.Option{"asked for": {byTenant, grpclimit.WithConcurrency()}, "found out": {byTenant}} {
		s := &service{inside: make(chan struct{}), leave: make(chan struct{})}
		c := protect(t, s, decider(t, "policies:\n  - {id: jobs, by: [tenant], concurrency: 1, on_failure: open}\n"), opts...)
		first := make(chan codes.Code)
		for range 2 {
			go func() { first <- call(as(t, "a"), c, &echo.SimpleRequest{}, 1)[0] }()
			<-s.inside
			if got := call(as(t, "a"), c, &echo.SimpleRequest{}, 2); !slices.Equal(got, []codes.Code{tooMany, tooMany}) {
				t.Errorf("%s: while one is inside: %v", name, got)
			}
			s.leave <- struct{}{}
			if got := <-first; got != ok {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
}

// TestWaits: the first goes on at once, the second after its delay; the third
// would have to wait too long, and gives its place back.
func TestWaits(t *testing.T) {
	e := decider(t, "policies:\n  - {id: shape, by: [tenant], limits: [20/s burst 5 leaky_bucket], on_failure: open}\n")
	c := protect(t, &service{}, e, byTenant, grpclimit.WithMaxDelay(70*time.Millisecond))
	began := time.Now()
	if got := call(as(t, "a"), c, &echo.SimpleRequest{}, 2); !slices.Equal(got, []codes.Code{ok, ok}) || time.Since(began) < 50*time.Millisecond {
		t.Errorf("%v after %v", got, time.Since(began))
	}
	_, err := c.UnaryCall(as(t, "a"), &echo.SimpleRequest{})
	retry := time.Duration(0)
	for _, d := range status.Convert(err).Details() {
		if r, ok := d.(*errdetails.RetryInfo); ok {
			retry = r.GetRetryDelay().AsDuration()
		}
	}
	if status.Code(err) != tooMany || retry < 30*time.Millisecond || retry > 60*time.Millisecond { // 100 - 70, and as much again
		t.Errorf("the third: %v, retry after %v", err, retry)
	}
	ctx, cancel := context.WithTimeout(as(t, "a"), 20*time.Millisecond)
	defer cancel()
	patient := protect(t, &service{}, e, byTenant, grpclimit.WithMaxDelay(time.Hour))
	if _, err := patient.UnaryCall(ctx, &echo.SimpleRequest{}); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a caller who leaves: %v", err)
	}
	// Both gave their places back: the next waits as long as the third would have.
	var d weir.Decision
	await(t, "the places", func() bool {
		r := &weir.Request{Domain: "default", Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "a"}}, HasCost: true}}}
		return e.Check(t.Context(), r, &d) == nil && d.Charges[0].Outcome.Before.Used == 2
	})
	hasty := protect(t, &service{}, e, byTenant, grpclimit.WithMaxDelay(-1))
	if got := call(as(t, "a"), hasty, &echo.SimpleRequest{}, 3); !slices.Equal(got, []codes.Code{ok, ok, ok}) {
		t.Errorf("nobody waits: %v", got)
	}
	none := protect(t, &service{}, e, byTenant, grpclimit.WithMaxDelay(0))
	if got := call(as(t, "b"), none, &echo.SimpleRequest{}, 2); !slices.Equal(got, []codes.Code{ok, tooMany}) {
		t.Errorf("nobody may wait: %v", got)
	}
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited for %s", what)
		}
	}
}

// broken is a checker that fails as told.
type broken struct{ err error }

func (b broken) Check(context.Context, *weir.Request, *weir.Decision) error { return b.err }

func TestWithoutADecision(t *testing.T) {
	refused := &weir.Error{Code: weir.CodeRefused, Message: "secret of the operator's"}
	for name, tc := range map[string]struct {
		err  error
		opts []grpclimit.Option
		want codes.Code
		told int
	}{
		"open":                    {refused, nil, ok, 1},
		"closed":                  {refused, []grpclimit.Option{grpclimit.WithFailClosed()}, codes.Unavailable, 1},
		"a policy is gone":        {&weir.Error{Code: weir.CodePolicyNotFound}, nil, ok, 1},
		"a dimension is missing":  {&weir.Error{Code: weir.CodeInvalid, Field: "tenant", Message: "is missing"}, nil, codes.InvalidArgument, 1},
		"an id is missing":        {&weir.Error{Code: weir.CodeInvalid, Field: "id"}, nil, ok, 1},
		"no decision":             {nil, nil, ok, 1},
		"no decision, closed":     {nil, []grpclimit.Option{grpclimit.WithFailClosed()}, codes.Unavailable, 1},
		"a dimension fails":       {nil, []grpclimit.Option{grpclimit.WithDimensions(failing(errors.New("secret")))}, codes.InvalidArgument, 1},
		"a dimension cannot tell": {nil, []grpclimit.Option{grpclimit.WithDimensions(failing(refused))}, ok, 1},
		"skipped":                 {refused, []grpclimit.Option{grpclimit.WithFailClosed(), grpclimit.WithSkip(grpclimit.Methods("/grpc.testing.*"))}, ok, 0},
	} {
		told := 0
		c := protect(t, &service{}, broken{tc.err}, append(tc.opts, grpclimit.WithErrorLog(func(error) { told++ }))...)
		_, err := c.UnaryCall(t.Context(), &echo.SimpleRequest{})
		if status.Code(err) != tc.want || told != tc.told || strings.Contains(status.Convert(err).Message(), "secret") {
			t.Errorf("%s: %v, told %d times", name, err, told)
		}
	}
}

func failing(err error) grpclimit.Dimensions {
	return func(_ context.Context, _ *grpclimit.Call, dst []weir.Pair) ([]weir.Pair, error) { return dst, err }
}

// TestSetUpWrongly: a limiter that cannot limit lets nobody through unnoticed.
func TestSetUpWrongly(t *testing.T) {
	for name, l := range map[string]*grpclimit.Limiter{
		"no checker":   grpclimit.New(nil),
		"no option":    grpclimit.New(broken{}, nil),
		"no dimension": grpclimit.New(broken{}, grpclimit.WithDimensions(nil)),
		"no skip":      grpclimit.New(broken{}, grpclimit.WithSkip(nil)),
	} {
		c := echo.NewTestServiceClient(serve(t, &service{}, l))
		if _, err := c.UnaryCall(t.Context(), &echo.SimpleRequest{}); status.Code(err) != codes.Internal {
			t.Errorf("%s: %v", name, err)
		}
		s, err := c.FullDuplexCall(t.Context())
		if err == nil {
			_, err = s.Recv()
		}
		if status.Code(err) != codes.Internal {
			t.Errorf("%s, a stream: %v", name, err)
		}
	}
}

func TestDenialOfOnesOwn(t *testing.T) {
	deny := func(_ context.Context, c *grpclimit.Call, d *weir.Decision) error {
		return status.Error(codes.Aborted, c.Method+" "+d.Rule)
	}
	c := protect(t, &service{}, decider(t, "policies:\n  - {id: all, limits: [1/h], on_failure: open}\n"), grpclimit.WithDenial(deny))
	call(t.Context(), c, &echo.SimpleRequest{}, 1)
	var header metadata.MD
	_, err := c.UnaryCall(t.Context(), &echo.SimpleRequest{}, grpc.Header(&header))
	if s := status.Convert(err); s.Code() != codes.Aborted || s.Message() != unaryMethod+" all" || len(header.Get("retry-after")) != 1 {
		t.Errorf("%v, %v", s, header)
	}
	none := func(context.Context, *grpclimit.Call, *weir.Decision) error { return nil }
	c = protect(t, &service{}, decider(t, "policies:\n  - {id: all, limits: [1/h], on_failure: open}\n"), grpclimit.WithDenial(none))
	if got := call(t.Context(), c, &echo.SimpleRequest{}, 2); !slices.Equal(got, []codes.Code{ok, codes.Internal}) {
		t.Errorf("a denial that is none: %v", got)
	}
}

// TestRequestID: the same id is not charged twice.
func TestRequestID(t *testing.T) {
	c := protect(t, &service{}, decider(t, "policies:\n  - {id: tenants, by: [tenant], limits: [2/h], on_failure: open}\n"), byTenant, grpclimit.WithRequestID("X-Request-Id"))
	same := metadata.AppendToOutgoingContext(as(t, "a"), "x-request-id", "1")
	if got := call(same, c, &echo.SimpleRequest{}, 5); !slices.Equal(got, slices.Repeat([]codes.Code{ok}, 5)) {
		t.Errorf("the same: %v", got)
	}
	if got := call(as(t, "a"), c, &echo.SimpleRequest{}, 2); !slices.Equal(got, []codes.Code{ok, tooMany}) {
		t.Errorf("others: %v", got)
	}
	for name, id := range map[string][]string{
		"too long": {"x-request-id", strings.Repeat("x", weir.MaxIDBytes+1)},
		"twice":    {"x-request-id", "1", "x-request-id", "1"},
	} {
		if got := call(metadata.AppendToOutgoingContext(as(t, "b"), id...), c, &echo.SimpleRequest{}, 1); got[0] != codes.InvalidArgument {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestUnattributedIsChargedToNobody: a call that passes though it is not known
// whose it is leaves alone whoever came before.
func TestUnattributedIsChargedToNobody(t *testing.T) {
	e := decider(t, perTenant)
	lost := false
	tenant := grpclimit.WithDimensions(func(_ context.Context, _ *grpclimit.Call, dst []weir.Pair) ([]weir.Pair, error) {
		if lost {
			return dst, &weir.Error{Code: weir.CodeRefused}
		}
		return append(dst, weir.Pair{Name: "tenant", Value: "a"}), nil
	})
	l := grpclimit.New(e, tenant, grpclimit.WithCostAfter(func(context.Context, *grpclimit.Call, *grpclimit.Result) int64 { return 4 }))
	for _, lost = range []bool{false, true, true, true} {
		_, err := l.Unary(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: unaryMethod}, func(context.Context, any) (any, error) { return nil, nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	var d weir.Decision
	r := &weir.Request{Domain: "default", Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "a"}}, HasCost: true}}}
	if err := e.Check(t.Context(), r, &d); err != nil || d.Remaining != 5 {
		t.Errorf("%d left, want 5 of 10; %v", d.Remaining, err)
	}
}

// TestSameIDHoldsOnePlace: a call that is made again while the first is under way
// shares its place, and does not give it back when it ends before.
func TestSameIDHoldsOnePlace(t *testing.T) {
	for _, text := range []string{
		"policies:\n  - {id: p, by: [tenant], concurrency: 1, on_failure: open}\n",
		"policies:\n  - {id: p, by: [tenant], limits: [9/h, 1 concurrency 60s], on_failure: open}\n",
	} {
		l := grpclimit.New(decider(t, text), byTenant, grpclimit.WithRequestID("X-Request-Id"))
		nothing := func(context.Context, any) (any, error) { return &echo.SimpleResponse{}, nil }
		unary := func(id string, handler grpc.UnaryHandler) codes.Code {
			ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs("x-tenant", "a", "x-request-id", id))
			_, err := l.Unary(ctx, &echo.SimpleRequest{}, &grpc.UnaryServerInfo{FullMethod: unaryMethod}, handler)
			return status.Code(err)
		}
		unary("same", func(ctx context.Context, req any) (any, error) {
			if got := unary("same", nothing); got != ok {
				t.Errorf("again: %v", got)
			}
			if got := unary("other", nothing); got != tooMany {
				t.Errorf("another, while the first is under way: %v", got)
			}
			return nothing(ctx, req)
		})
		if got := unary("third", nothing); got != ok {
			t.Errorf("afterwards: %v", got)
		}
	}
}
