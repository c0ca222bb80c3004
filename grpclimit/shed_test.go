package grpclimit_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	echo "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/grpclimit"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/shed"
)

// classes: streams are critical, a call may lower itself.
func classes(t testing.TB) *shed.Classifier {
	t.Helper()
	c, err := shed.NewClassifier(shed.Rules{
		Routes: []shed.Route{{Pattern: streamMethod, Priority: shed.Critical}},
		Header: "X-Priority",
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// unavailable checks that an error sends away for a while, and blames nobody.
func unavailable(t *testing.T, err error) {
	t.Helper()
	s := status.Convert(err)
	if s.Code() != codes.Unavailable || len(s.Details()) != 1 {
		t.Errorf("%v %v", err, s.Details())
		return
	}
	info, ok := s.Details()[0].(*errdetails.RetryInfo)
	if d := info.GetRetryDelay().AsDuration(); !ok || d < time.Second || d > 2*time.Second {
		t.Errorf("retry after %v", d)
	}
}

func TestShedder(t *testing.T) {
	w, err := shed.NewWorker(shed.Options{Places: 1, Waiting: 4, MaxWait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	sheds := grpclimit.NewShedder(w, classes(t))
	s := &service{inside: make(chan struct{}, 9), leave: make(chan struct{})}
	limit := grpclimit.New(decider(t, "policies:\n  - {id: p, by: ip, limits: 100/s, on_failure: open}\n"))
	conn := serve(t, s, limit, grpc.ChainUnaryInterceptor(sheds.Unary), grpc.ChainStreamInterceptor(sheds.Stream))
	c := echo.NewTestServiceClient(conn)
	var all sync.WaitGroup
	waiting := func(n int) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); w.Stats().Waiting != n; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%+v", w.Stats())
			}
		}
	}
	call := func() {
		all.Go(func() {
			if _, err := c.UnaryCall(t.Context(), &echo.SimpleRequest{}); err != nil {
				t.Error(err)
			}
		})
	}
	call()
	<-s.inside
	for n := range 3 { // as many writes as may wait
		call()
		waiting(n + 1)
	}
	_, err = c.UnaryCall(metadata.AppendToOutgoingContext(t.Context(), "x-priority", "critical"), &echo.SimpleRequest{})
	unavailable(t, err)
	_, err = c.UnaryCall(metadata.AppendToOutgoingContext(t.Context(), "x-priority", "test"), &echo.SimpleRequest{})
	unavailable(t, err)
	gone, cancel := context.WithCancel(t.Context())
	all.Go(func() {
		stream, err := c.FullDuplexCall(gone)
		if err == nil {
			_, err = stream.Recv()
		}
		if status.Code(err) != codes.Canceled {
			t.Errorf("whose caller is gone: %v", err)
		}
	})
	waiting(4) // a stream is critical
	cancel()
	waiting(3)
	close(s.leave)
	all.Wait()
	stream, err := c.FullDuplexCall(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&echo.StreamingOutputCallRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil || w.Stats().Inside != 1 {
		t.Errorf("%v, %+v", err, w.Stats())
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); w.Stats().Inside != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%+v", w.Stats())
		}
	}
}

func TestShedderSpares(t *testing.T) {
	w, err := shed.NewWorker(shed.Options{Places: 1, Waiting: -1})
	if err != nil {
		t.Fatal(err)
	}
	held, _ := w.Enter(t.Context(), shed.Write)
	defer held.Leave()
	checker := health.NewServer()
	ask := func(s *grpclimit.Shedder) error {
		_, err := s.Unary(t.Context(), &healthpb.HealthCheckRequest{}, &grpc.UnaryServerInfo{FullMethod: healthpb.Health_Check_FullMethodName},
			func(ctx context.Context, req any) (any, error) {
				return checker.Check(ctx, req.(*healthpb.HealthCheckRequest))
			})
		return err
	}
	if err := ask(grpclimit.NewShedder(w, nil)); err != nil {
		t.Errorf("health: %v", err)
	}
	if err := ask(grpclimit.NewShedder(nil, nil)); status.Code(err) != codes.Internal {
		t.Errorf("without a worker: %v", err)
	}
}

// TestShedPolicy: a policy for the service's survival ends calls as a worker does,
// and knows what a call matters.
func TestShedPolicy(t *testing.T) {
	e := enginetest.New(t, "policies:\n  - {id: fleet-rest, match: {priority: [test, read, write]}, concurrency: 1, answer: unavailable, on_failure: open}\n", engine.Options{})
	s := &service{inside: make(chan struct{}, 9), leave: make(chan struct{})}
	c := protect(t, s, e, grpclimit.WithPriorities(classes(t)))
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := c.UnaryCall(t.Context(), &echo.SimpleRequest{}); err != nil {
			t.Error(err)
		}
	})
	<-s.inside
	_, err := c.UnaryCall(t.Context(), &echo.SimpleRequest{})
	unavailable(t, err)
	stream, err := c.FullDuplexCall(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&echo.StreamingOutputCallRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Errorf("critical: %v", err)
	}
	close(s.leave)
	all.Wait()
}
