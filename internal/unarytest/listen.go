package unarytest

import (
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/weirlimit/weir/internal/fastlane"
	"github.com/weirlimit/weir/internal/unary"
)

// Listen serves methods, by their paths, on a port of this machine, until the
// test ends, and returns a connection to it.
func Listen(t testing.TB, methods map[string]unary.Method) *grpc.ClientConn {
	t.Helper()
	o := fastlane.Options{
		Methods:    make(map[string]fastlane.Handler),
		MaxMessage: 1 << 20, // methods have bounds of their own, which are tried
		Hooks: fastlane.Hooks{
			Panicked: func(v any, stack []byte) { t.Errorf("unarytest: panic: %v\n%s", v, stack) },
		},
	}
	for path, m := range methods {
		o.Methods[path] = handler{m}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("unarytest: %v", err)
	}
	s := fastlane.New(o)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-served; err != nil {
			t.Errorf("unarytest: serve: %v", err)
		}
	})
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	if err != nil {
		t.Fatalf("unarytest: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

type handler struct{ method unary.Method }

func (h handler) Take(c *fastlane.Call, msg []byte) fastlane.Step { return h.method.Take(c, msg) }
