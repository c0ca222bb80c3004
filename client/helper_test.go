package client_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/client"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/internal/native"
	"github.com/weirlimit/weir/memstore"
)

// Nothing that a test starts outlives it, the goroutines of clients included.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of a test, on a machine that has other work.
const patience = 30 * time.Second

// decider is an engine on memory.
func decider(t testing.TB, text string, hooks weir.Hooks, opts ...memstore.Option) *engine.Engine {
	t.Helper()
	return enginetest.New(t, text, engine.Options{Store: memstore.New(opts...), Deadline: time.Second, Hooks: hooks})
}

// server is a gRPC server that can be stopped and started again at its address.
type server struct {
	t    testing.TB
	addr string
	with weirv1.LimiterServer
	opts []grpc.ServerOption
	grpc *grpc.Server
	done sync.WaitGroup
}

// serve serves what an engine decides.
func serve(t testing.TB, e *engine.Engine, opts ...grpc.ServerOption) *server {
	t.Helper()
	return serveAs(t, native.NewLimiter(e), opts...)
}

func serveAs(t testing.TB, with weirv1.LimiterServer, opts ...grpc.ServerOption) *server {
	t.Helper()
	s := &server{t: t, addr: "127.0.0.1:0", with: with, opts: opts}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *server) start() {
	s.t.Helper()
	var l net.Listener
	await(s.t, "the address", func() bool { // held, for a moment, by connections that end
		var err error
		l, err = net.Listen("tcp", s.addr)
		return err == nil
	})
	s.addr = l.Addr().String()
	s.grpc = grpc.NewServer(s.opts...)
	weirv1.RegisterLimiterServer(s.grpc, s.with)
	g := s.grpc
	s.done.Go(func() { _ = g.Serve(l) })
}

// stop breaks all connections.
func (s *server) stop() {
	s.grpc.Stop()
	s.done.Wait()
}

// dial makes a client that ends with the test.
func dial(t testing.TB, s *server, opts ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(s.addr, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

// ask makes a request of dimensions given as name, value, name, value.
func ask(dimensions ...string) *weir.Request {
	r := &weir.Request{Domain: "default", Descriptors: make([]weir.Descriptor, 1)}
	for i := 0; i < len(dimensions); i += 2 {
		r.Descriptors[0].Pairs = append(r.Descriptors[0].Pairs, weir.Pair{Name: dimensions[i], Value: dimensions[i+1]})
	}
	return r
}

func check(t testing.TB, c weir.Checker, r *weir.Request) weir.Decision {
	t.Helper()
	var d weir.Decision
	if err := c.Check(t.Context(), r, &d); err != nil {
		t.Fatalf("check: %v", err)
	}
	return d
}

// reach waits until the server answers.
func reach(t testing.TB, c weir.Checker, r *weir.Request) {
	t.Helper()
	await(t, "an answer of the server", func() bool { return check(t, c, r).Source == weir.SourceStore })
}

func await(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

// scripted is a server whose streams do as told.
type scripted struct {
	weirv1.UnimplementedLimiterServer
	batch func(s weirv1.Limiter_CheckBatchServer) error
}

func (s *scripted) CheckBatch(b weirv1.Limiter_CheckBatchServer) error { return s.batch(b) }

// losses counts what a client lost.
type losses struct {
	mu       sync.Mutex
	n        map[weir.Loss]int
	degraded map[weir.Code]int
}

func (l *losses) hooks() weir.Hooks {
	l.n, l.degraded = map[weir.Loss]int{}, map[weir.Code]int{}
	return weir.Hooks{
		Lost: func(kind weir.Loss, n int) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.n[kind] += n
		},
		Degraded: func(_ *weir.Decision, err error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.degraded[weir.CodeOf(err)]++
		},
	}
}

func (l *losses) lost(kind weir.Loss) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n[kind]
}

func (l *losses) degradedBy(code weir.Code) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.degraded[code]
}

// sync turns Submit into a call that waits.
func submit(ctx context.Context, c weir.AsyncChecker, r *weir.Request, d *weir.Decision) error {
	done := make(chan error, 1)
	c.Submit(r, d, func(err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
