package native

import (
	"context"
	"sync"
	"time"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/grpcerr"
	"github.com/weirlimit/weir/internal/wire"
)

// Engine is what the Limiter service asks.
type Engine interface {
	weir.AsyncChecker
	weir.Releaser
	Leaser
}

// Limiter serves weir.v1.Limiter.
type Limiter struct {
	weirv1.UnimplementedLimiterServer
	engine   Engine
	gatherer weir.Gatherer // nil for none
	scratch  sync.Pool
}

var _ weirv1.LimiterServer = (*Limiter)(nil)

// NewLimiter returns a service that asks e.
func NewLimiter(e Engine) *Limiter {
	l := &Limiter{engine: e}
	l.scratch.New = func() any { return new(exchange) }
	return l
}

// GatherBy has g be told of checks that come in one message. It is called before the
// service is used.
func (l *Limiter) GatherBy(g weir.Gatherer) *Limiter {
	l.gatherer = g
	return l
}

// exchange is the memory of one check.
type exchange struct {
	req weir.Request
	dec weir.Decision
}

// Check implements the service.
func (l *Limiter) Check(ctx context.Context, in *weirv1.CheckRequest) (*weirv1.CheckResponse, error) {
	x := l.scratch.Get().(*exchange)
	defer l.scratch.Put(x)
	if err := wire.Check(in, &x.req, time.Now()); err != nil {
		return nil, grpcerr.Status(err)
	}
	out := new(weirv1.CheckResponse)
	if err := l.engine.Check(ctx, &x.req, &x.dec); err != nil {
		if weir.CodeOf(err) != weir.CodePolicyNotFound {
			return nil, grpcerr.Status(err)
		}
		wire.Refuse(err, in, out)
		return out, nil
	}
	wire.Answer(&x.dec, in, out)
	return out, nil
}

// Release implements the service.
func (l *Limiter) Release(ctx context.Context, in *weirv1.ReleaseRequest) (*weirv1.ReleaseResponse, error) {
	var r weir.Request
	if err := wire.Subject(in, &r); err != nil {
		return nil, grpcerr.Status(err)
	}
	if in.GetRequestId() == "" || len(in.GetRequestId()) > weir.MaxIDBytes {
		return nil, grpcerr.Status(invalid("request_id", "has 1 to 256 bytes"))
	}
	r.ID = in.GetRequestId()
	released, version, err := l.engine.Release(ctx, &r)
	if err != nil {
		if weir.CodeOf(err) == weir.CodePolicyNotFound {
			return &weirv1.ReleaseResponse{Code: weirv1.Code_CODE_POLICY_NOT_FOUND}, nil
		}
		return nil, grpcerr.Status(err)
	}
	return &weirv1.ReleaseResponse{Code: weirv1.Code_CODE_OK, Released: released, PolicyVersion: version}, nil
}

func invalid(field, message string) *weir.Error {
	return &weir.Error{Code: weir.CodeInvalid, Field: field, Message: message}
}
