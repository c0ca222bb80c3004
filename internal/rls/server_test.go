package rls_test

import (
	"context"
	"net"
	"testing"
	"time"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/redistest"
	"github.com/weirlimit/weir/internal/rls"
	"github.com/weirlimit/weir/internal/unary"
	"github.com/weirlimit/weir/internal/unarytest"
	"github.com/weirlimit/weir/memstore"
	"github.com/weirlimit/weir/policy"
	"github.com/weirlimit/weir/redisstore"
)

// service is a client of the service on a real connection.
type service struct {
	pb.RateLimitServiceClient
	t      testing.TB
	server *rls.Server
}

// lane is one of the ways in: they give the same answers.
type lane string

const (
	stock lane = "stock" // by grpc-go, on a real connection
	fast  lane = "fast"  // by the fast lane, on a real connection
	bare  lane = "bare"  // by the lane's method, with memory around it that does not last
)

var lanes = []lane{stock, fast, bare}

// opener serves an Envoy file.
type opener func(o rls.Options, text string) *service

// serve serves an Envoy file from store.
func serve(t testing.TB, by lane, store weir.Store, o rls.Options, text string) *service {
	t.Helper()
	e, err := engine.New(engine.Options{Store: store, Deadline: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	e.Swap(compiled(t, text, o.Compat))
	return connect(t, by, e, o)
}

func compiled(t testing.TB, text string, compat bool) *policy.Set {
	t.Helper()
	f, problems := policy.ParseEnvoy("config.yaml", []byte(text))
	if policy.HasErrors(problems) {
		t.Fatalf("parse: %v", problems)
	}
	set, problems := policy.Compile([]*policy.File{{Name: "config.yaml", Envoy: f}}, policy.Options{EnvoyCompat: compat})
	if set == nil {
		t.Fatalf("compile: %v", problems)
	}
	return set
}

func connect(t testing.TB, by lane, e weir.AsyncChecker, o rls.Options) *service {
	t.Helper()
	s := rls.New(e, o)
	methods := map[string]unary.Method{pb.RateLimitService_ShouldRateLimit_FullMethodName: rls.NewLane(s, e)}
	switch by {
	case fast:
		return &service{RateLimitServiceClient: pb.NewRateLimitServiceClient(unarytest.Listen(t, methods)), t: t, server: s}
	case bare:
		return &service{RateLimitServiceClient: pb.NewRateLimitServiceClient(unarytest.Dial(t, methods)), t: t, server: s}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	pb.RegisterRateLimitServiceServer(g, s)
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &service{RateLimitServiceClient: pb.NewRateLimitServiceClient(conn), t: t, server: s}
}

// ask asks with descriptors, and fails the test on an error.
func (s *service) ask(hits uint32, descriptors ...*common.RateLimitDescriptor) *pb.RateLimitResponse {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := s.ShouldRateLimit(ctx, &pb.RateLimitRequest{Domain: "test", Descriptors: descriptors, HitsAddend: hits})
	if err != nil {
		s.t.Fatalf("ask: %v", err)
	}
	if len(out.GetStatuses()) != len(descriptors) {
		s.t.Fatalf("%d statuses for %d descriptors", len(out.GetStatuses()), len(descriptors))
	}
	return out
}

// d makes a descriptor of key, value, key, value.
func d(pairs ...string) *common.RateLimitDescriptor {
	out := &common.RateLimitDescriptor{}
	for i := 0; i < len(pairs); i += 2 {
		out.Entries = append(out.Entries, &common.RateLimitDescriptor_Entry{Key: pairs[i], Value: pairs[i+1]})
	}
	return out
}

func withHits(d *common.RateLimitDescriptor, n uint64) *common.RateLimitDescriptor {
	d.HitsAddend = wrapperspb.UInt64(n)
	return d
}

// each runs a test on memory and on Redis, counting our way and the peer's, by
// either way in.
func each(t *testing.T, run func(t *testing.T, serve opener, compat bool)) {
	srv := redistest.Start(t)
	stores := map[string]func(t *testing.T) weir.Store{
		"memory": func(*testing.T) weir.Store { return memstore.New() },
		"redis": func(t *testing.T) weir.Store {
			srv.MustDo("FLUSHALL")
			s, err := redisstore.New(context.Background(), redisstore.Options{Addrs: []string{srv.Addr()}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
		},
	}
	for _, by := range lanes {
		for where, store := range stores {
			for name, compat := range map[string]bool{"default": false, "compat": true} {
				t.Run(string(by)+"/"+where+"/"+name, func(t *testing.T) {
					run(t, func(o rls.Options, text string) *service { return serve(t, by, store(t), o, text) }, compat)
				})
			}
		}
	}
}
