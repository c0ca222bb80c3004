package grpclimit

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/admission"
	"github.com/weirlimit/weir/internal/grpcerr"
	"github.com/weirlimit/weir/internal/respond"
)

// header is the rate limit fields of p's decision as metadata. retry is when to
// come back, with its jitter: the fields say the same as the details.
func (p *pass) header(retry weir.Micros) metadata.MD {
	a := respond.To(&p.Decision, weir.MicrosAt(time.Now()), nil)
	if a.Retry > 0 {
		a.Retry = max(1, retry.Seconds())
	}
	p.fields.Fill(&a)
	md := make(metadata.MD, p.fields.Len())
	p.fields.SetLower(md)
	return md
}

// jittered is when a denied caller should come back: not before the exact time,
// and up to as much later by chance, so that those who were denied together do
// not return together. 0 when it should not.
func jittered(d *weir.Decision) weir.Micros {
	if d.Verdict != weir.Deny || d.RetryAfter == weir.Never || d.RetryAfter > math.MaxInt64/2 {
		return 0
	}
	base := max(weir.Millisecond, d.RetryAfter)
	return base + weir.Micros(rand.Int64N(int64(base)+1))
}

// denied is the error that ends a denied call.
func (l *Limiter) denied(ctx context.Context, c *Call, d *weir.Decision, retry weir.Micros) error {
	if l.denial == nil {
		return denial(d, retry)
	}
	if err := l.denial(ctx, c, d); err != nil {
		return err
	}
	return status.Error(codes.Internal, "a denied call was given no error")
}

// denial says a denial as a status. It tells the names of a limit's dimensions,
// not their values.
func denial(d *weir.Decision, retry weir.Micros) error {
	s := status.New(codes.ResourceExhausted, message(d))
	var details []protoadapt.MessageV1
	switch {
	case d.Reason == weir.ReasonDegraded:
		s = status.New(codes.Unavailable, "the rate limiter cannot decide now")
	case d.Reason == weir.ReasonShed: // no quota of the caller's
		s = status.New(codes.Unavailable, "the service has no room for this call now")
	case d.Rule != "":
		v := &errdetails.QuotaFailure_Violation{Subject: d.Scope, Description: d.Reason.String(), QuotaId: d.Rule}
		if d.Limit.Count > 0 {
			v.Description, v.QuotaValue = d.Limit.String()+": "+d.Reason.String(), d.Limit.Count
		}
		details = append(details, &errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{v}})
	}
	if retry > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(retry.Duration())})
	}
	if with, err := s.WithDetails(details...); err == nil {
		s = with
	}
	return s.Err()
}

func message(d *weir.Decision) string {
	if d.Reason == weir.ReasonTooCostly {
		return "the call costs more than the limit ever holds"
	}
	return "too many requests"
}

// refused is the error that ends a call without a decision. Only the fault of a
// call is told to who made it.
func refused(err error) error {
	if admission.Gone(err) {
		return grpcerr.Status(err)
	}
	if fault := admission.Fault(err); fault != "" {
		return status.Error(codes.InvalidArgument, fault)
	}
	return status.Error(codes.InvalidArgument, "the call cannot be attributed to a caller")
}
