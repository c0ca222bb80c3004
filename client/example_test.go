package client_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/client"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/native"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
)

const examplePolicies = `
policies:
  - {id: api, by: [tenant], limits: [2/m], on_failure: open}
  - {id: batch, by: [job], limits: [1000/m], lease: auto, on_failure: open}
`

// examplePolicy is an engine of this process.
func examplePolicy() *engine.Engine {
	file, _ := policy.ParseNative("api.yaml", []byte(examplePolicies))
	set, _ := policy.Compile([]*policy.File{{Name: "api.yaml", Native: file}}, policy.Options{})
	e, _ := engine.New(engine.Options{Store: memstore.New()})
	e.Swap(set)
	return e
}

// exampleServer stands for weir serve.
func exampleServer() (address string, stop func()) {
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	g := grpc.NewServer()
	weirv1.RegisterLimiterServer(g, native.NewLimiter(examplePolicy()))
	go func() { _ = g.Serve(l) }()
	return l.Addr().String(), g.Stop
}

func Example() {
	address, stop := exampleServer()
	defer stop()

	limits, err := client.New(address, client.WithDeadline(time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = limits.Close() }()

	request := &weir.Request{
		Domain:      "default",
		Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "acme"}}}},
	}
	var d weir.Decision
	for range 3 {
		if err := limits.Check(context.Background(), request, &d); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(d.Verdict, d.Rule, d.Remaining)
	}
	// Output:
	// allow api 1
	// allow api 0
	// deny api 0
}

// A server that is away costs nothing but precision: an engine of this process,
// with the same policies and counters of its own, answers instead.
func ExampleWithFallback() {
	limits, err := client.New("127.0.0.1:1", client.WithFallback(examplePolicy())) // where nobody listens
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = limits.Close() }()

	request := &weir.Request{
		Domain:      "default",
		Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant", Value: "acme"}}}},
	}
	var d weir.Decision
	for range 3 {
		if err := limits.Check(context.Background(), request, &d); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(d.Verdict, d.Reason, d.Source)
	}
	// Output:
	// allow degraded backstop
	// allow degraded backstop
	// deny exhausted backstop
}

// A server on another machine is connected to with TLS.
func ExampleNew() {
	protect := func(config *tls.Config, local weir.Checker) error {
		limits, err := client.New("weir.internal:8081", client.WithTLS(config), client.WithFallback(local))
		if err != nil {
			return err
		}
		defer func() { _ = limits.Close() }()
		return nil
	}
	fmt.Println(protect(&tls.Config{MinVersion: tls.VersionTLS13}, examplePolicy()))
	// Output: <nil>
}

// A caller with very many requests takes units ahead and spends them by itself.
func ExampleClient_Lease() {
	address, stop := exampleServer()
	defer stop()
	limits, err := client.New(address, client.WithDeadline(time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = limits.Close() }()

	request := &weir.Request{
		Domain:      "default",
		Policy:      "batch",
		Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "job", Value: "nightly"}}}},
	}
	lease, err := limits.Lease(context.Background(), request, 200)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("granted", lease.Granted, "of", lease.Limit)
	done := 0
	for lease.Spend(1) { // false when all are spent, and when the lease has ended
		done++
	}
	fmt.Println("no more than", lease.Granted, "done:", done <= 50)
	// Output:
	// granted 50 of 1000/m
	// no more than 50 done: true
}
