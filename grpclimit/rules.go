package grpclimit

import (
	"context"
	"slices"

	"google.golang.org/grpc/codes"

	"github.com/weirlimit/weir/internal/admission"
)

// Methods is a rule for WithSkip: calls of one of these full methods. One that
// ends in * stands for all that begin like it, such as
// /grpc.health.v1.Health/*. A method with segments that are empty or dots is none
// of them.
func Methods(methods ...string) func(context.Context, *Call) bool {
	methods = slices.Clone(methods)
	return func(_ context.Context, c *Call) bool { return admission.Matches(methods, c.Method) }
}

// ServerErrors is a rule for WithRefund: what failed on this side.
func ServerErrors(code codes.Code) bool {
	switch code {
	case codes.Unknown, codes.Internal, codes.Unavailable, codes.DataLoss, codes.Unimplemented:
		return true
	}
	return false
}

// BytesCost is a cost for WithCostAfter: one unit for every unit bytes of
// messages sent, and for what is left over. A unit of less than 1 is 1.
func BytesCost(unit int64) func(context.Context, *Call, *Result) int64 {
	return func(_ context.Context, _ *Call, r *Result) int64 { return admission.Units(r.Sent, unit) }
}

// TrailerCost is a cost for WithCostAfter: the number that the handler put into
// the trailer under that key. What is no number, or negative, is 0.
func TrailerCost(key string) func(context.Context, *Call, *Result) int64 {
	return func(_ context.Context, _ *Call, r *Result) int64 {
		values := r.Trailer.Get(key)
		if len(values) == 0 {
			return 0
		}
		return admission.Number(values[len(values)-1])
	}
}
