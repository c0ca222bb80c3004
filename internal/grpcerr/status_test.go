package grpcerr_test

import (
	"errors"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/grpcerr"
)

func TestStatus(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want codes.Code
	}{
		{&weir.Error{Code: weir.CodeInvalid, Field: "cost", Message: "is below 0"}, codes.InvalidArgument},
		{&weir.Error{Code: weir.CodePolicyNotFound}, codes.NotFound},
		{&weir.Error{Code: weir.CodeTimeout}, codes.DeadlineExceeded},
		{&weir.Error{Code: weir.CodeNotReady}, codes.Unavailable},
		{fmt.Errorf("outer: %w", &weir.Error{Code: weir.CodeRefused}), codes.Unavailable},
		{&weir.Error{Code: weir.CodeNoAuth}, codes.Internal},
		{errors.New("anything"), codes.Internal},
	} {
		if got := status.Code(grpcerr.Status(tt.err)); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.err, got, tt.want)
		}
	}
	if code, message := grpcerr.Split(&weir.Error{Code: weir.CodeBreaker, Message: "why"}); code != codes.Unavailable || message != "why" {
		t.Errorf("split into %v, %q", code, message)
	}
	if got := status.Convert(grpcerr.Status(&weir.Error{Code: weir.CodeInvalid, Field: "cost", Message: "is below 0"})).Message(); got != "cost: is below 0" {
		t.Errorf("message %q", got)
	}
}
