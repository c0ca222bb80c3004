package frameworks

import (
	"google.golang.org/grpc"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/grpclimit"
)

// GRPC limits calls and streams. A call's route is its full method, such as
// /grpc.health.v1.Health/Check.
func GRPC(limits weir.Checker) *grpc.Server {
	limit := grpclimit.New(limits)
	return grpc.NewServer(
		grpc.ChainUnaryInterceptor(limit.Unary),
		grpc.ChainStreamInterceptor(limit.Stream),
	)
}
