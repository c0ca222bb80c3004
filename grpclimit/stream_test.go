package grpclimit_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	echo "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir/grpclimit"
)

type duplex = grpc.BidiStreamingClient[echo.StreamingOutputCallRequest, echo.StreamingOutputCallResponse]

func open(t testing.TB, ctx context.Context, c echo.TestServiceClient) duplex {
	t.Helper()
	s, err := c.FullDuplexCall(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// say sends a message of n bytes and waits for its echo.
func say(s duplex, n int) error {
	if err := s.Send(&echo.StreamingOutputCallRequest{Payload: &echo.Payload{Body: make([]byte, n)}}); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, err := s.Recv()
	return err
}

// leave ends a stream in good order.
func leave(t testing.TB, s duplex) {
	t.Helper()
	if err := s.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// TestStreamIsOneCall, however many messages it has.
func TestStreamIsOneCall(t *testing.T) {
	c := protect(t, &service{}, decider(t, "policies:\n  - {id: streams, match: {route: "+streamMethod+"}, by: [tenant], limits: [2/h], on_failure: open}\n"), byTenant)
	for i := range 3 {
		s := open(t, as(t, "a"), c)
		err := say(s, 1)
		if i == 2 {
			header, _ := s.Header()
			if status.Code(err) != tooMany || len(header.Get("retry-after")) != 1 || len(status.Convert(err).Details()) != 2 {
				t.Errorf("the third: %v, %v", err, header)
			}
			break
		}
		for range 5 {
			if err := say(s, 1); err != nil {
				t.Fatal(err)
			}
		}
		header, err := s.Header()
		if err != nil || len(header.Get("ratelimit")) != 1 {
			t.Errorf("%v, %v", header, err)
		}
		leave(t, s)
	}
}

// TestStreamHoldsItsPlace until it ends, also when its client just leaves.
func TestStreamHoldsItsPlace(t *testing.T) {
	c := protect(t, &service{}, decider(t, "policies:\n  - {id: streams, by: [tenant], concurrency: 1, on_failure: open}\n"), byTenant, grpclimit.WithConcurrency())
	ctx, cancel := context.WithCancel(as(t, "a"))
	defer cancel()
	first := open(t, ctx, c)
	if err := say(first, 1); err != nil {
		t.Fatal(err)
	}
	if err := say(open(t, as(t, "a"), c), 1); status.Code(err) != tooMany {
		t.Errorf("while one is open: %v", err)
	}
	cancel()
	var next duplex
	await(t, "the place", func() bool { next = open(t, as(t, "a"), c); return say(next, 1) == nil })
	leave(t, next)
	await(t, "the place again", func() bool { return say(open(t, as(t, "a"), c), 1) == nil })
}

// TestMessageCost: a stream of 1 and its messages of 3 each; the one that does
// not fit ends the stream.
func TestMessageCost(t *testing.T) {
	three := func(_ context.Context, c *grpclimit.Call, m any) int64 {
		if !c.Stream || c.Method != streamMethod {
			t.Errorf("call %+v", c)
		}
		return int64(len(m.(*echo.StreamingOutputCallRequest).GetPayload().GetBody()))
	}
	c := protect(t, &service{}, decider(t, "policies:\n  - {id: tenants, by: [tenant], limits: [10/h], concurrency: 3, on_failure: open}\n"), byTenant, grpclimit.WithMessageCost(three))
	s := open(t, as(t, "a"), c)
	for i, want := range []codes.Code{ok, ok, ok, tooMany} {
		if err := say(s, 3); status.Code(err) != want {
			t.Errorf("message %d: %v", i, err)
		}
	}
	if err := say(open(t, as(t, "a"), c), 0); status.Code(err) != tooMany {
		t.Errorf("in debt: %v", err)
	}
	if err := say(open(t, as(t, "b"), c), 3); err != nil {
		t.Errorf("another: %v", err)
	}
}

func TestMessageCostOfOne(t *testing.T) {
	c := protect(t, &service{}, decider(t, "policies:\n  - {id: tenants, by: [tenant], limits: [3/h], on_failure: open}\n"), byTenant, grpclimit.WithMessageCost(nil))
	s := open(t, as(t, "a"), c)
	for i, want := range []codes.Code{ok, ok, tooMany} {
		if err := say(s, 3); status.Code(err) != want {
			t.Errorf("message %d: %v", i, err)
		}
	}
}

// TestMessagesWait: a leaky bucket holds messages back, and ends a stream that
// would wait too long.
func TestMessagesWait(t *testing.T) {
	c := protect(t, &service{}, decider(t, "policies:\n  - {id: shape, by: [tenant], limits: [20/s burst 9 leaky_bucket], on_failure: open}\n"),
		byTenant, grpclimit.WithMessageCost(nil), grpclimit.WithMaxDelay(120*time.Millisecond))
	began := time.Now()
	s := open(t, as(t, "a"), c)
	for i, least := range []time.Duration{50, 150} { // after 50 ms, and 100 more: the clock stands
		if err := say(s, 1); err != nil || time.Since(began) < least*time.Millisecond {
			t.Errorf("message %d after %v: %v", i, time.Since(began), err)
		}
	}
	if err := say(s, 1); status.Code(err) != tooMany {
		t.Errorf("150 ms is too long: %v", err)
	}
}

// TestStreamCostAfter: what was sent, in units of 1000 bytes, and what the
// trailer says.
func TestStreamCostAfter(t *testing.T) {
	for name, cost := range map[string]func(context.Context, *grpclimit.Call, *grpclimit.Result) int64{
		"bytes":       grpclimit.BytesCost(1000),
		"the trailer": grpclimit.TrailerCost("x-units"),
		"received":    func(_ context.Context, _ *grpclimit.Call, r *grpclimit.Result) int64 { return r.Received / 1000 },
	} {
		c := protect(t, &service{}, decider(t, "policies:\n  - {id: tenants, by: [tenant], limits: [5/h], on_failure: open}\n"), byTenant, grpclimit.WithCostAfter(cost))
		s := open(t, as(t, "a"), c)
		for range 4 {
			if err := say(s, 1100); err != nil {
				t.Fatal(err)
			}
		}
		leave(t, s)
		if err := say(open(t, as(t, "a"), c), 0); status.Code(err) != tooMany { // 1 + 4 or 5
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMessageWithoutADecision passes, or ends the stream.
func TestMessageWithoutADecision(t *testing.T) {
	for _, closed := range []bool{false, true} {
		e := &flaky{Checker: decider(t, "policies:\n  - {id: all, limits: [5/h], on_failure: open}\n")}
		opts := []grpclimit.Option{grpclimit.WithMessageCost(nil)}
		want := ok
		if closed {
			opts, want = append(opts, grpclimit.WithFailClosed()), codes.Unavailable
		}
		s := open(t, t.Context(), protect(t, &service{}, e, opts...))
		if err := say(s, 1); err != nil {
			t.Fatal(err)
		}
		e.fails.Store(true)
		if err := say(s, 1); status.Code(err) != want {
			t.Errorf("closed %v: %v", closed, err)
		}
	}
}
