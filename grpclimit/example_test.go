package grpclimit_test

import (
	"context"
	"fmt"
	"net"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/grpclimit"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
)

// limits is an engine in this process; what embedded.Open and client.New return
// are checkers, too.
func limits(text string) weir.Checker {
	file, _ := policy.ParseNative("policies.yaml", []byte(text))
	set, _ := policy.Compile([]*policy.File{{Name: "policies.yaml", Native: file}}, policy.Options{})
	e, _ := engine.New(engine.Options{Store: memstore.New()})
	e.Swap(set)
	return e
}

// start serves a service of gRPC's own, and returns a client of it.
func start(server *grpc.Server) (healthv1.HealthClient, func()) {
	healthv1.RegisterHealthServer(server, health.NewServer())
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	go func() { _ = server.Serve(l) }()
	conn, _ := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	return healthv1.NewHealthClient(conn), func() { _ = conn.Close(); server.Stop() }
}

func Example() {
	checker := limits(`
policies:
  - {id: peers, by: [ip, route], limits: [2/m], on_failure: open}
`)
	limit := grpclimit.New(checker)
	server := grpc.NewServer(
		grpc.ChainUnaryInterceptor(limit.Unary),
		grpc.ChainStreamInterceptor(limit.Stream),
	)
	client, stop := start(server)
	defer stop()

	for range 3 {
		_, err := client.Check(context.Background(), &healthv1.HealthCheckRequest{})
		fmt.Println(status.Code(err))
	}
	// Output:
	// OK
	// OK
	// ResourceExhausted
}

// What a denied caller is told: which limit it was, and when to come back.
func Example_denied() {
	limit := grpclimit.New(limits("policies:\n  - {id: peers, by: [ip], limits: [1/m], on_failure: open}\n"))
	client, stop := start(grpc.NewServer(grpc.ChainUnaryInterceptor(limit.Unary)))
	defer stop()

	var err error
	for err == nil {
		_, err = client.Check(context.Background(), &healthv1.HealthCheckRequest{})
	}
	for _, detail := range status.Convert(err).Details() {
		switch detail := detail.(type) {
		case *errdetails.RetryInfo:
			fmt.Println("wait a minute, at least:", detail.GetRetryDelay().AsDuration().Minutes() > 0.9)
		case *errdetails.QuotaFailure:
			v := detail.GetViolations()[0]
			fmt.Println(v.GetQuotaId(), v.GetSubject(), v.GetDescription())
		}
	}
	// Output:
	// peers ip 1/m: exhausted
	// wait a minute, at least: true
}

// Who is charged is who the client's certificate names. Health checks are not
// limited; what a call costs on top is known when its response is.
func ExampleNew() {
	checker := limits("policies:\n  - {id: tenants, by: [tenant], limits: [100/s burst 200], on_failure: open}\n")
	limit := grpclimit.New(checker,
		grpclimit.WithDimensions(grpclimit.PeerSAN("tenant")),
		grpclimit.WithSkip(grpclimit.Methods("/grpc.health.v1.Health/*")),
		grpclimit.WithCostAfter(grpclimit.BytesCost(16<<10)),
		grpclimit.WithRefund(grpclimit.ServerErrors),
	)
	client, stop := start(grpc.NewServer(grpc.ChainUnaryInterceptor(limit.Unary)))
	defer stop()

	_, err := client.Check(context.Background(), &healthv1.HealthCheckRequest{})
	fmt.Println(status.Code(err))
	// Output: OK
}

// A stream is one call. To charge its messages, too:
func ExampleWithMessageCost() {
	checker := limits("policies:\n  - {id: peers, by: [ip], limits: [3/m], on_failure: open}\n")
	limit := grpclimit.New(checker, grpclimit.WithMessageCost(nil)) // 1 each
	client, stop := start(grpc.NewServer(grpc.ChainStreamInterceptor(limit.Stream)))
	defer stop()

	for range 3 { // each is a stream of one message: 2 units
		watch, err := client.Watch(context.Background(), &healthv1.HealthCheckRequest{})
		if err == nil {
			_, err = watch.Recv()
		}
		fmt.Println(status.Code(err))
	}
	// Output:
	// OK
	// ResourceExhausted
	// ResourceExhausted
}
