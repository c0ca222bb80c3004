package grpclimit

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/shed"
)

// Shedder has interceptors that serve as many calls as a worker has places, let
// some wait, and end what matters least with UNAVAILABLE and RetryInfo. Chain it
// before all others, so that what is sent away costs nothing:
//
//	sheds := grpclimit.NewShedder(worker, classes)
//	server := grpc.NewServer(
//		grpc.ChainUnaryInterceptor(sheds.Unary, limit.Unary),
//		grpc.ChainStreamInterceptor(sheds.Stream, limit.Stream),
//	)
type Shedder struct {
	worker  *shed.Worker
	classes *shed.Classifier
	key     string
}

// NewShedder returns a shedder. classes says what a call matters; nil takes all
// for writes. What is exempt, such as the health service, is served in any case.
// Without a worker every call ends with codes.Internal.
func NewShedder(w *shed.Worker, classes *shed.Classifier) *Shedder {
	return &Shedder{worker: w, classes: classes, key: strings.ToLower(classes.Header())}
}

// WithPriorities gives calls the dimension priority, for policies that match it.
// A dimension of that name of WithDimensions comes first. What is exempt is not
// asked about.
func WithPriorities(classes *shed.Classifier) Option {
	key := strings.ToLower(classes.Header())
	return func(c *config) {
		c.skip = append(c.skip, func(_ context.Context, call *Call) bool {
			return classes.Exempt(&shed.Request{Path: call.Method})
		})
		c.ranks = func(ctx context.Context, call *Call) weir.Priority {
			d := described(ctx, call.Method, key)
			return classes.Classify(&d)
		}
	}
}

func described(ctx context.Context, method, key string) shed.Request {
	d := shed.Request{Path: method}
	if key != "" {
		d.Header = metadata.ValueFromIncomingContext(ctx, key)
	}
	return d
}

var (
	_ grpc.UnaryServerInterceptor  = (&Shedder{}).Unary
	_ grpc.StreamServerInterceptor = (&Shedder{}).Stream
)

// Unary is a grpc.UnaryServerInterceptor.
func (s *Shedder) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ticket, err := s.enter(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	defer ticket.Leave()
	return handler(ctx, req)
}

// Stream is a grpc.StreamServerInterceptor. A stream has its place until it ends.
func (s *Shedder) Stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ticket, err := s.enter(ss.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	defer ticket.Leave()
	return handler(srv, ss)
}

// enter asks for a place. The ticket of what is exempt is none.
func (s *Shedder) enter(ctx context.Context, method string) (shed.Ticket, error) {
	if s.worker == nil {
		return shed.Ticket{}, status.Error(codes.Internal, "the load shedder is set up wrongly: worker: is missing")
	}
	d := described(ctx, method, s.key)
	if s.classes.Exempt(&d) {
		return shed.Ticket{}, nil
	}
	ticket, why := s.worker.Enter(ctx, s.classes.Classify(&d))
	switch why {
	case shed.Admitted:
		return ticket, nil
	case shed.Gone:
		return ticket, status.FromContextError(ctx.Err()).Err()
	}
	refusal := weir.Decision{Verdict: weir.Deny, Reason: weir.ReasonShed, RetryAfter: s.worker.RetryAfter()}
	return ticket, denial(&refusal, jittered(&refusal))
}
