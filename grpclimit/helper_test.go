package grpclimit_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	echo "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/grpclimit"
	"github.com/weirlimit/weir/internal/enginetest"
	"github.com/weirlimit/weir/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	unaryMethod  = "/grpc.testing.TestService/UnaryCall"
	streamMethod = "/grpc.testing.TestService/FullDuplexCall"
)

// decider is an engine on memory, whose clock stands.
func decider(t testing.TB, text string) *engine.Engine {
	t.Helper()
	clock := memstore.WithClock(func() weir.Micros { return weir.MicrosAt(time.Unix(1_800_000_000, 0)) })
	return enginetest.New(t, text, engine.Options{Store: memstore.New(clock)})
}

// service is what is protected: it answers with as many bytes as asked for, and
// echoes streams.
type service struct {
	echo.UnimplementedTestServiceServer
	inside chan struct{} // when not nil, calls say that they run,
	leave  chan struct{} // and wait to be let go
}

func (s *service) UnaryCall(ctx context.Context, in *echo.SimpleRequest) (*echo.SimpleResponse, error) {
	if s.inside != nil {
		s.inside <- struct{}{}
		<-s.leave
	}
	if in.GetFillUsername() {
		panic("asked to")
	}
	if in.GetFillServerId() {
		_ = grpc.SetTrailer(ctx, metadata.Pairs("x-units", "7"))
	}
	if st := in.GetResponseStatus(); st != nil {
		return nil, status.Error(codes.Code(st.GetCode()), st.GetMessage())
	}
	return &echo.SimpleResponse{Payload: &echo.Payload{Body: make([]byte, in.GetResponseSize())}}, nil
}

func (s *service) FullDuplexCall(ss grpc.BidiStreamingServer[echo.StreamingOutputCallRequest, echo.StreamingOutputCallResponse]) error {
	for {
		in, err := ss.Recv()
		if errors.Is(err, io.EOF) {
			ss.SetTrailer(metadata.Pairs("x-units", "5"))
			return nil
		}
		if err != nil {
			return err
		}
		if err := ss.Send(&echo.StreamingOutputCallResponse{Payload: in.GetPayload()}); err != nil {
			return err
		}
	}
}

// protect serves s behind a limiter and returns a client of it.
func protect(t testing.TB, s *service, c weir.Checker, opts ...grpclimit.Option) echo.TestServiceClient {
	t.Helper()
	conn := serve(t, s, grpclimit.New(c, opts...))
	return echo.NewTestServiceClient(conn)
}

func serve(t testing.TB, s *service, l *grpclimit.Limiter, opts ...grpc.ServerOption) *grpc.ClientConn {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	recovering := func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, h grpc.UnaryHandler) (_ any, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = status.Errorf(codes.Internal, "panicked: %v", p)
			}
		}()
		return h(ctx, req)
	}
	opts = append(opts, grpc.ChainUnaryInterceptor(recovering, l.Unary), grpc.ChainStreamInterceptor(l.Stream))
	g := grpc.NewServer(opts...)
	echo.RegisterTestServiceServer(g, s)
	var serving sync.WaitGroup
	serving.Go(func() { _ = g.Serve(listener) })
	t.Cleanup(func() { g.Stop(); serving.Wait() })
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// as is a context whose call says who it is for.
func as(t testing.TB, tenant string) context.Context {
	return metadata.AppendToOutgoingContext(t.Context(), "x-tenant", tenant)
}

// byTenant is what a gateway in front would vouch for.
var byTenant = grpclimit.WithDimensions(grpclimit.Metadata("tenant", "X-Tenant"))

// call makes calls and returns their codes.
func call(ctx context.Context, c echo.TestServiceClient, in *echo.SimpleRequest, n int) []codes.Code {
	var got []codes.Code
	for range n {
		_, err := c.UnaryCall(ctx, in)
		got = append(got, status.Code(err))
	}
	return got
}
