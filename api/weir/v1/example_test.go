package weirv1_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

// server stands in for weir serve: it denies what costs more than 5, and
// answers a stream backwards, which it may.
type server struct {
	weirv1.UnimplementedLimiterServer
}

func (server) Check(_ context.Context, r *weirv1.CheckRequest) (*weirv1.CheckResponse, error) {
	if r.Cost > 5 {
		return &weirv1.CheckResponse{
			Number: r.Number, Code: weirv1.Code_CODE_DENY, Reason: weirv1.Reason_REASON_EXHAUSTED,
			Remaining: 5, RetryAfterUs: 2_500_000, Quota: &weirv1.Quota{Rule: "orders", Limit: "100/m"},
		}, nil
	}
	return &weirv1.CheckResponse{Number: r.Number, Code: weirv1.Code_CODE_OK, Allowed: true}, nil
}

func (s server) CheckBatch(stream grpc.BidiStreamingServer[weirv1.CheckBatchRequest, weirv1.CheckBatchResponse]) error {
	for {
		in, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		out := &weirv1.CheckBatchResponse{}
		for i := len(in.Checks) - 1; i >= 0; i-- {
			result, err := s.Check(stream.Context(), in.Checks[i])
			if err != nil {
				return err
			}
			out.Results = append(out.Results, result)
		}
		if err := stream.Send(out); err != nil {
			return err
		}
	}
}

// connect returns a client of that server, and how to end both.
func connect() (weirv1.LimiterClient, func()) {
	listener := bufconn.Listen(64 << 10)
	srv := grpc.NewServer()
	weirv1.RegisterLimiterServer(srv, server{})
	go func() { _ = srv.Serve(listener) }() // ends with Stop
	conn, err := grpc.NewClient("passthrough:weir",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	return weirv1.NewLimiterClient(conn), func() { _ = conn.Close(); srv.Stop() }
}

func ExampleLimiterClient_Check() {
	client, end := connect()
	defer end()

	answer, err := client.Check(context.Background(), &weirv1.CheckRequest{
		Domain:     "shop",
		Dimensions: []*weirv1.Dimension{{Name: "tenant", Value: "acme"}},
		Cost:       20,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if !answer.Allowed {
		wait := time.Duration(answer.RetryAfterUs) * time.Microsecond
		fmt.Printf("%s: %s of %s, retry after %s\n", answer.Code, answer.Quota.Limit, answer.Quota.Rule, wait)
	}
	// Output: CODE_DENY: 100/m of orders, retry after 2.5s
}

func ExampleLimiterClient_CheckBatch() {
	client, end := connect()
	defer end()

	stream, err := client.CheckBatch(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	// Answers come in any order: the number says whose each is.
	waiting := map[uint64]string{1: "GET /orders", 2: "POST /orders/import"}
	if err := stream.Send(&weirv1.CheckBatchRequest{Checks: []*weirv1.CheckRequest{
		{Number: 1, Domain: "shop"},
		{Number: 2, Domain: "shop", Cost: 20},
	}}); err != nil {
		fmt.Println(err)
		return
	}
	for len(waiting) > 0 {
		in, err := stream.Recv()
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, answer := range in.Results {
			fmt.Println(waiting[answer.Number], answer.Allowed)
			delete(waiting, answer.Number)
		}
	}
	// Output:
	// POST /orders/import false
	// GET /orders true
}
