package grpclimit_test

import (
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	echo "google.golang.org/grpc/interop/grpc_testing"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir/client"
	"github.com/weirlimit/weir/grpclimit"
	"github.com/weirlimit/weir/internal/native"
)

// remote is a client of a server that decides by those policies.
func remote(t *testing.T, text string) *client.Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	weirv1.RegisterLimiterServer(g, native.NewLimiter(decider(t, text)))
	var serving sync.WaitGroup
	serving.Go(func() { _ = g.Serve(l) })
	c, err := client.New(l.Addr().String(), client.WithDeadline(20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(); g.Stop(); serving.Wait() })
	return c
}

// TestRemote: the same over a server elsewhere: limits, costs afterwards, and
// places that are held and released, with ids from the first or found out.
func TestRemote(t *testing.T) {
	c := protect(t, &service{}, remote(t, perTenant), byTenant, grpclimit.WithCostAfter(grpclimit.TrailerCost("x-units")))
	if got := call(as(t, "a"), c, &echo.SimpleRequest{}, 11); !slices.Equal(got, append(slices.Repeat([]codes.Code{ok}, 10), tooMany)) {
		t.Errorf("got %v", got)
	}
	call(as(t, "b"), c, &echo.SimpleRequest{FillServerId: true}, 1)
	await(t, "the units spent", func() bool { // 1 + 7 and one for each call
		return call(as(t, "b"), c, &echo.SimpleRequest{}, 1)[0] == tooMany
	})

	for name, opts := range map[string][]grpclimit.Option{"asked for": {byTenant, grpclimit.WithConcurrency()}, "found out": {byTenant}} {
		s := &service{inside: make(chan struct{}), leave: make(chan struct{})}
		c := protect(t, s, remote(t, "policies:\n  - {id: jobs, by: [tenant], concurrency: 1, on_failure: open}\n"), opts...)
		for range 2 {
			first := make(chan codes.Code)
			go func() { first <- call(as(t, "a"), c, &echo.SimpleRequest{}, 1)[0] }()
			<-s.inside
			if got := call(as(t, "a"), c, &echo.SimpleRequest{}, 1)[0]; got != tooMany {
				t.Errorf("%s: while one is inside: %v", name, got)
			}
			s.leave <- struct{}{}
			if got := <-first; got != ok {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
}
