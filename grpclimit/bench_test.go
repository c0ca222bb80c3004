package grpclimit_test

import (
	"context"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/weirlimit/weir/grpclimit"
)

// transport stands for gRPC's, which would be most of what is measured.
type transport struct{ grpc.ServerTransportStream }

func (transport) SetHeader(metadata.MD) error { return nil }

// BenchmarkUnary is what the interceptor adds to a call, with an engine on
// memory.
func BenchmarkUnary(b *testing.B) {
	for name, opts := range map[string][]grpclimit.Option{"fields": nil, "bare": {grpclimit.WithoutHeaders()}} {
		b.Run(name, func(b *testing.B) {
			l := grpclimit.New(decider(b, "policies:\n  - {id: p, by: [ip], limits: [10000000/s], on_failure: open}\n"), opts...)
			ctx := peer.NewContext(b.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7).To4(), Port: 9}})
			ctx = grpc.NewContextWithServerTransportStream(ctx, transport{})
			info := &grpc.UnaryServerInfo{FullMethod: "/shop.v1.Orders/Place"}
			handler := func(context.Context, any) (any, error) { return nil, nil }
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Unary(ctx, nil, info, handler); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
