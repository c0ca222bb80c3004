package frameworks

import (
	"context"
	"errors"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/httplimit"
)

// ConnectDenial says a denial in the caller's protocol, Connect, gRPC or
// gRPC-Web, as the code resource_exhausted. The header fields are set already.
func ConnectDenial() httplimit.Option {
	errs := connect.NewErrorWriter()
	return httplimit.WithDenial(func(w http.ResponseWriter, r *http.Request, d *weir.Decision) {
		if !errs.IsSupported(r) {
			http.Error(w, "rate limited", http.StatusTooManyRequests)
			return
		}
		_ = errs.Write(w, r, connect.NewError(connect.CodeResourceExhausted, errors.New("rate limited by "+d.Rule)))
	})
}

// Connect limits a service. Its procedures are paths: POST /ping.v1.PingService/Ping.
func Connect(limits weir.Checker) http.Handler {
	ping := func(context.Context, *connect.Request[emptypb.Empty]) (*connect.Response[emptypb.Empty], error) {
		return connect.NewResponse(&emptypb.Empty{}), nil
	}
	mux := http.NewServeMux()
	mux.Handle(pingProcedure, connect.NewUnaryHandler(pingProcedure, ping)) // or what protoc-gen-connect-go made
	return httplimit.New(limits, ConnectDenial())(mux)
}

const pingProcedure = "/ping.v1.PingService/Ping"
