package main

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/experimental"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/weirlimit/weir"
	weirv1 "github.com/weirlimit/weir/api/weir/v1"
	"github.com/weirlimit/weir/internal/admin"
	"github.com/weirlimit/weir/internal/fastlane"
	"github.com/weirlimit/weir/internal/native"
	"github.com/weirlimit/weir/internal/rls"
	"github.com/weirlimit/weir/internal/tlsfile"
	"github.com/weirlimit/weir/internal/unary"
)

// fastDoor serves checks and health by the fast lane, and by rest what else
// there is on the same listener.
func (s *server) fastDoor(l net.Listener, envoy *rls.Server, rest *grpc.Server, pool *fastlane.Pool) *door {
	status := new(unary.Health)
	s.health.Watch(func(now admin.State) { status.Set(now == admin.Ready) })
	secured := s.tls[doorGRPC]
	if secured.config == nil {
		l = answerHTTP1(l)
	}
	counts := newFastCounts()
	s.metrics.Connections(counts.read)
	hooks := counts.hooks()
	panicked := s.metrics.Hooks().Panicked
	hooks.Panicked = func(v any, stack []byte) {
		panicked("grpc")
		s.log.Error("a call panicked", "panic", v, "stack", string(stack))
	}
	f := fastlane.New(fastlane.Options{
		Methods: secured.lanes(map[string]unary.Method{
			rlsv3.RateLimitService_ShouldRateLimit_FullMethodName: rls.NewLane(envoy, s.engine),
			weirv1.Limiter_Check_FullMethodName:                   native.NewLane(s.engine),
			healthv1.Health_Check_FullMethodName:                  status,
		}),
		Fallback: sayEncodings(rest), Pool: pool, Cork: s.cork, Gatherer: s.gatherer(), TLS: secured.config,
		MaxMessage: maxMessage, MaxStreams: maxStreams, MaxHeaderBytes: maxFields, HandshakeTimeout: headerTimeout,
		IdleTimeout: idleStreams,
		Hooks:       hooks,
	})
	return &door{
		name: doorGRPC, listener: l,
		serve: func() error { return f.Serve(l) },
		stop: func(deadline time.Time) {
			ctx, cancel := context.WithDeadline(context.Background(), deadline)
			defer cancel()
			_ = f.Shutdown(ctx)
			rest.Stop()
		},
	}
}

// pool is what bounds the memory of the streams that are left to grpc-go, and the
// option that has it used; nothing if all is served by it.
func (f *engineFlags) pool() (*fastlane.Pool, []grpc.ServerOption) {
	if f.grpc != engineFast {
		return nil, nil
	}
	p := fastlane.NewPool()
	return p, []grpc.ServerOption{experimental.BufferPool(p)}
}

// corked returns h with the hooks by which answers of one round trip are written
// together, and the cork they pull.
func (f *engineFlags) corked(h weir.Hooks, cork **fastlane.Cork) weir.Hooks {
	if f.grpc == engineFast {
		*cork = new(fastlane.Cork)
		h.Answering, h.Answered = (*cork).Begin, (*cork).End
	}
	return h
}

// lanes are methods behind a listener: calls without a certificate are refused
// where grpcGate refuses them.
func (t *doorTLS) lanes(methods map[string]unary.Method) map[string]fastlane.Handler {
	all := make(map[string]fastlane.Handler, len(methods))
	for name, m := range methods {
		all[name] = &lane{m}
		if t.exempt && !strings.HasPrefix(name, healthService) {
			all[name] = &securedLane{m}
		}
	}
	return all
}

// lane is a method as the fast lane knows it.
type lane struct{ method unary.Method }

func (l *lane) Take(c *fastlane.Call, msg []byte) fastlane.Step { return l.method.Take(c, msg) }

// securedLane is one for callers with a certificate.
type securedLane struct{ method unary.Method }

func (l *securedLane) Take(c *fastlane.Call, msg []byte) fastlane.Step {
	if !tlsfile.HasClient(c.TLS()) {
		c.Fail(codes.Unauthenticated, noClient)
		return nil
	}
	return l.method.Take(c, msg)
}

// sayEncodings has answers to requests in a compression say which are known, as
// the protocol of gRPC wants it of who refuses one: none. grpc-go refuses them
// and leaves that out.
func sayEncodings(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e := r.Header.Get("Grpc-Encoding"); e != "" && e != "identity" {
			w.Header().Set("Grpc-Accept-Encoding", "identity")
		}
		next.ServeHTTP(w, r)
	})
}
