package client_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/client"
)

const benchPolicies = "policies:\n  - {id: tenants, by: [tenant], limits: [10000000/s], on_failure: open}\n"

// callers is how many ask at a time.
const callers = 64

// parallel runs fn from 64 goroutines, each with a tenant of its own, and
// reports checks per second.
func parallel(b *testing.B, fn func(tenant string, next func() bool)) {
	var n atomic.Int64
	b.SetParallelism(callers) // times GOMAXPROCS, at least as many as wanted
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		if me := n.Add(1); me <= callers {
			fn("tenant-"+strconv.FormatInt(me, 10), p.Next)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "checks/s")
}

// BenchmarkCheck asks a server on loopback, in this process: half of the work is
// the server's.
func BenchmarkCheck(b *testing.B) {
	for _, streams := range []int{1, 2} {
		b.Run("streams="+strconv.Itoa(streams), func(b *testing.B) {
			c := dial(b, serve(b, decider(b, benchPolicies, weir.Hooks{})), client.WithDeadline(patience), client.WithStreams(streams))
			reach(b, c, ask("nobody", "x"))
			b.ResetTimer()
			parallel(b, func(tenant string, next func() bool) {
				r := ask("tenant", tenant)
				var d weir.Decision
				for next() {
					if err := c.Check(context.Background(), r, &d); err != nil || !d.Allowed() || d.Source != weir.SourceStore {
						b.Errorf("%+v, %v", d, err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkUnary asks the same with a call each.
func BenchmarkUnary(b *testing.B) {
	s := serve(b, decider(b, benchPolicies, weir.Hooks{}))
	conn, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	c := weirv1.NewLimiterClient(conn)
	parallel(b, func(tenant string, next func() bool) {
		in := &weirv1.CheckRequest{Domain: "default", Dimensions: []*weirv1.Dimension{{Name: "tenant", Value: tenant}}}
		for next() {
			if out, err := c.Check(context.Background(), in); err != nil || !out.GetAllowed() {
				b.Errorf("%v, %v", out, err)
				return
			}
		}
	})
}

// BenchmarkAlone is one caller that waits for each answer: nothing gathers.
func BenchmarkAlone(b *testing.B) {
	c := dial(b, serve(b, decider(b, benchPolicies, weir.Hooks{})), client.WithDeadline(patience))
	r := ask("tenant", "a")
	var d weir.Decision
	reach(b, c, r)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Check(context.Background(), r, &d); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSubmit keeps 1024 checks outstanding from one goroutine.
func BenchmarkSubmit(b *testing.B) {
	c := dial(b, serve(b, decider(b, benchPolicies, weir.Hooks{})), client.WithDeadline(patience))
	reach(b, c, ask("nobody", "x"))
	type slot struct {
		r    *weir.Request
		d    weir.Decision
		done func(error)
	}
	free := make(chan *slot, 1024)
	for range cap(free) {
		s := &slot{r: ask("tenant", "a")}
		s.done = func(error) { free <- s }
		free <- s
	}
	b.ReportAllocs()
	for b.Loop() {
		s := <-free
		c.Submit(s.r, &s.d, s.done)
	}
	for range cap(free) {
		<-free
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "checks/s")
}
