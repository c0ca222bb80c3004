package fastlane

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// echoPath is a method that answers with its request.
const echoPath = "/test.Echo/Echo"

var echo = HandlerFunc(func(c *Call, msg []byte) { c.Reply(append(c.Buffer(), msg...)) })

// later answers from another goroutine.
func later(t *testing.T) Handler {
	calls := make(chan func(), 1024)
	go func() {
		for f := range calls {
			f()
		}
	}()
	t.Cleanup(func() { close(calls) })
	return HandlerFunc(func(c *Call, msg []byte) {
		kept := append(c.Buffer(), msg...)
		calls <- func() { c.Reply(kept) }
	})
}

// start serves o on a port of its own.
func start(t *testing.T, o Options) (*Server, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if o.Hooks.Panicked == nil {
		o.Hooks.Panicked = func(v any, stack []byte) { t.Errorf("panic: %v\n%s", v, stack) }
	}
	s := New(o)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return s, l.Addr().String()
}

// rawCodec passes bytes through.
type rawCodec struct{}

func (rawCodec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (rawCodec) Unmarshal(b []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), b...)
	return nil
}
func (rawCodec) Name() string { return "proto" }

func dial(t *testing.T, addr string, o ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	o = append([]grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy()}, o...)
	cc, err := grpc.NewClient(addr, o...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cc.Close() })
	return cc
}

func call(ctx context.Context, cc *grpc.ClientConn, method string, in []byte) ([]byte, error) {
	var out []byte
	err := cc.Invoke(ctx, method, &in, &out, grpc.ForceCodec(rawCodec{}))
	return out, err
}

// TestClients has grpc-go's client make unary calls, answered at once and later,
// and streams of the fallback, all on one connection.
func TestClients(t *testing.T) {
	g := grpc.NewServer()
	healthv1.RegisterHealthServer(g, health.NewServer())
	t.Cleanup(g.Stop)
	_, addr := start(t, Options{
		Methods: map[string]Handler{
			echoPath: echo, "/test.Echo/Later": later(t),
			"/test.Echo/Fail": HandlerFunc(func(c *Call, msg []byte) { c.Fail(codes.NotFound, string(msg)) }),
		},
		Fallback: g,
	})
	cc := dial(t, addr)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for j := range 100 {
				in := []byte(strings.Repeat(fmt.Sprintf("%d/%d ", i, j), 1+j*j%40))
				method := []string{echoPath, "/test.Echo/Later"}[j%2]
				if out, err := call(ctx, cc, method, in); err != nil || string(out) != string(in) {
					t.Errorf("%s of %d bytes: %d bytes, %v", method, len(in), len(out), err)
					return
				}
			}
		})
		all.Go(func() {
			text := "not found: 100% ünïcode\n"
			if _, err := call(ctx, cc, "/test.Echo/Fail", []byte(text)); status.Code(err) != codes.NotFound || status.Convert(err).Message() != text {
				t.Errorf("fail: %v", err)
			}
			if _, err := call(ctx, cc, "/test.Echo/Unknown", nil); status.Code(err) != codes.Unimplemented {
				t.Errorf("unknown: %v", err)
			}
			w, err := healthv1.NewHealthClient(cc).Watch(ctx, &healthv1.HealthCheckRequest{})
			if err != nil {
				t.Errorf("watch: %v", err)
				return
			}
			if r, err := w.Recv(); err != nil || r.GetStatus() != healthv1.HealthCheckResponse_SERVING {
				t.Errorf("watch: %v, %v", r, err)
			}
		})
	}
	all.Wait()
}
