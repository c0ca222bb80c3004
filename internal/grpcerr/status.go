package grpcerr

import (
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir"
)

// grpcCodes says which gRPC code a code becomes; those not listed are Internal.
var grpcCodes = map[weir.Code]codes.Code{
	weir.CodeInvalid:        codes.InvalidArgument,
	weir.CodePolicyNotFound: codes.NotFound,
	weir.CodeCanceled:       codes.Canceled,
	weir.CodeTimeout:        codes.DeadlineExceeded,
	weir.CodeNotReady:       codes.Unavailable,
	weir.CodeClosed:         codes.Unavailable,
	weir.CodeOverload:       codes.Unavailable,
	weir.CodeRefused:        codes.Unavailable,
	weir.CodeReadOnly:       codes.Unavailable,
	weir.CodeMoved:          codes.Unavailable,
	weir.CodeTryAgain:       codes.Unavailable,
	weir.CodeLoading:        codes.Unavailable,
	weir.CodeClusterDown:    codes.Unavailable,
	weir.CodeOOM:            codes.Unavailable,
	weir.CodeBreaker:        codes.Unavailable,
}

// Status returns err as a gRPC status error. Its message is the error's own text.
func Status(err error) error { return status.Error(Split(err)) }

// Split returns the code and the message of Status.
func Split(err error) (codes.Code, string) {
	e, ok := errors.AsType[*weir.Error](err)
	if !ok {
		return codes.Internal, err.Error()
	}
	code, ok := grpcCodes[e.Code]
	if !ok {
		code = codes.Internal
	}
	return code, e.Error()
}
