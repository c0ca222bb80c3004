package main

import (
	"bytes"
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/admin"
	"github.com/weirlimit/weir/internal/httpapi"
	"github.com/weirlimit/weir/internal/native"
	"github.com/weirlimit/weir/internal/rls"
)

// Bounds on what callers may send.
const (
	maxMessage    = 64 << 10
	maxStreams    = 1024     // per connection
	maxFields     = 16 << 10 // of a request's header, as HPACK counts them
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	idleStreams   = 15 * time.Minute // of a connection of gRPC without streams
)

// door is one listener and what serves it.
type door struct {
	name     string
	listener net.Listener
	serve    func() error
	stop     func(deadline time.Time)
}

func (d *door) addr() string { return d.listener.Addr().String() }

// open binds the listeners: an address that is taken must be said before
// anything is served.
func (s *server) open() error {
	envoy := rls.New(s.engine, rls.Options{
		Compat: s.flags.loading.compat == "envoy", Metadata: s.flags.peer.metadata,
		Headers: rls.Headers{
			Enabled: s.flags.peer.headers, Limit: s.flags.peer.headerLimit,
			Remaining: s.flags.peer.headerRemaining, Reset: s.flags.peer.headerReset,
		},
	})
	data := http.NewServeMux()
	data.Handle("/json", envoy)
	data.Handle("/v1/", httpapi.New(s.engine))
	data.Handle("/v1/auth", s.authHandler())
	data.Handle("/healthcheck", admin.Healthcheck(s.health))
	dataTLS := s.tls[doorHTTP]
	for _, build := range []func() (*door, error){
		func() (*door, error) { return s.grpcDoor(envoy) },
		func() (*door, error) { return s.httpDoor(doorHTTP, s.flags.http, dataTLS.gate(data)) },
		func() (*door, error) { return s.httpDoor(doorAdmin, s.flags.admin, s.adminHandler()) },
	} {
		d, err := build()
		if err != nil {
			for _, open := range s.doors {
				_ = open.listener.Close()
			}
			return err
		}
		s.doors = append(s.doors, d)
	}
	return nil
}

func (s *server) listen(name, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, usage("choose another with --"+name, "listen for %s: %w", name, err)
	}
	return boundConnections(l, s.flags.degrade.maxConnections), nil
}

// gatherer is the store, if many requests at once cost it less, or nil.
func (s *server) gatherer() weir.Gatherer {
	g, _ := s.store.(weir.Gatherer)
	return g
}

func (s *server) grpcDoor(envoy *rls.Server) (*door, error) {
	l, err := s.listen(doorGRPC, s.flags.grpc)
	if err != nil {
		return nil, err
	}
	secured := s.tls[doorGRPC]
	pool, options := s.flags.engine.pool()
	g := grpc.NewServer(append(append(options, secured.grpcGate()...),
		grpc.Creds(secured.grpcCredentials()),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(maxFields),
		grpc.ConnectionTimeout(headerTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: idleStreams}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
	)...)
	rlsv3.RegisterRateLimitServiceServer(g, envoy)
	weirv1.RegisterLimiterServer(g, native.NewLimiter(s.engine).GatherBy(s.gatherer()))
	status := health.NewServer()
	healthv1.RegisterHealthServer(g, status)
	reflection.Register(g)
	s.health.Watch(func(now admin.State) {
		state := healthv1.HealthCheckResponse_NOT_SERVING
		if now == admin.Ready {
			state = healthv1.HealthCheckResponse_SERVING
		}
		status.SetServingStatus("", state)
		status.SetServingStatus("ratelimit", state)
	})
	if s.flags.engine.grpc == engineFast {
		return s.fastDoor(l, envoy, g, pool), nil
	}
	return &door{
		name: doorGRPC, listener: l,
		serve: func() error { return g.Serve(l) },
		stop: func(deadline time.Time) {
			hard := time.AfterFunc(time.Until(deadline), g.Stop)
			defer hard.Stop()
			g.GracefulStop()
		},
	}, nil
}

// adminHandler serves the admin pages and, over HTTP/2, the Admin service.
func (s *server) adminHandler() http.Handler {
	secured := s.tls[doorAdmin]
	o := admin.Options{
		Health: s.health, Metrics: s.withAllProcessors(s.metrics.Handler()), Stats: s.metrics.Stats, Rules: s.writeRules, Config: s.config,
		Pages: append(s.switchPages(), admin.HotKeys(s.hotKeys)),
	}
	if secured.config != nil {
		// A page that has its own name resolve to this machine does not get past
		// the certificate, so that any name by which clients know it is good.
		o.Hosts = []string{"*"}
	}
	pages := secured.gate(admin.New(o))
	g := grpc.NewServer(append(secured.grpcGate(), grpc.MaxRecvMsgSize(maxMessage))...)
	weirv1.RegisterAdminServer(g, native.NewAdmin(s.engine))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			g.ServeHTTP(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	})
}

// httpLog takes what net/http has to say, a line at a time.
type httpLog struct{ log *slog.Logger }

func (l httpLog) Write(p []byte) (int, error) {
	level := slog.LevelWarn
	if bytes.Contains(p, []byte("TLS handshake error")) {
		level = slog.LevelDebug // anybody can cause them, and often
	}
	l.log.Log(context.Background(), level, strings.TrimSpace(string(p)))
	return len(p), nil
}

func (s *server) httpDoor(name, addr string, h http.Handler) (*door, error) {
	l, err := s.listen(name, addr)
	if err != nil {
		return nil, err
	}
	secured := s.tls[name]
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: 30 * time.Second,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxFields, Protocols: new(http.Protocols),
		ErrorLog: log.New(httpLog{s.log}, "", 0),
	}
	srv.Protocols.SetHTTP1(true)
	srv.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
	serve := srv.Serve
	if secured.config == nil {
		srv.Protocols.SetUnencryptedHTTP2(true)
	} else {
		srv.Protocols.SetHTTP2(true)
		srv.TLSConfig = secured.config
		serve = func(l net.Listener) error { return srv.ServeTLS(l, "", "") }
	}
	return &door{
		name: name, listener: l,
		serve: func() error {
			if err := serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		},
		stop: func(deadline time.Time) {
			ctx, cancel := context.WithDeadline(context.Background(), deadline)
			defer cancel()
			if srv.Shutdown(ctx) != nil {
				_ = srv.Close()
			}
		},
	}, nil
}
