package main

import (
	"context"
	"io"
	"net/http"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpccreds "google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir/internal/respond"
	"github.com/weirlimit/weir/internal/tlsfile"
)

// Where health is for everybody, a connection may be without a certificate, and
// it is looked for at every call. One that was shown is right, or there would be
// no connection.

// grpcGate are the options of a gRPC server behind a listener: calls without a
// certificate are refused, other than those of grpc.health.v1.
func (t *doorTLS) grpcGate() []grpc.ServerOption {
	if !t.exempt {
		return nil
	}
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, in any, call *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := needClient(ctx, call.FullMethod); err != nil {
				return nil, err
			}
			return next(ctx, in)
		}),
		grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, call *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if err := needClient(stream.Context(), call.FullMethod); err != nil {
				return err
			}
			return next(srv, stream)
		}),
	}
}

// healthService is what the names of its methods begin with.
const healthService = "/grpc.health.v1.Health/"

const noClient = "a client certificate is required"

func needClient(ctx context.Context, method string) error {
	if strings.HasPrefix(method, healthService) {
		return nil
	}
	if p, ok := peer.FromContext(ctx); ok {
		if info, ok := p.AuthInfo.(grpccreds.TLSInfo); ok && tlsfile.HasClient(&info.State) {
			return nil
		}
	}
	return status.Error(codes.Unauthenticated, noClient)
}

// healthPages are those that are for everybody.
var healthPages = map[string]bool{"/healthcheck": true, "/livez": true, "/readyz": true}

// gate refuses requests without a certificate, other than for those pages.
func (t *doorTLS) gate(next http.Handler) http.Handler {
	if !t.exempt {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if healthPages[r.URL.Path] || tlsfile.HasClient(r.TLS) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", respond.ProblemType)
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"type":"about:blank","title":"Forbidden","status":403,"detail":"`+noClient+`"}`+"\n")
	})
}
