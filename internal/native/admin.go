package native

import (
	"context"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/engine"
	"github.com/weirlimit/weir/internal/grpcerr"
	"github.com/weirlimit/weir/internal/wire"
)

// Operator is what the Admin service asks.
type Operator interface {
	Usage(ctx context.Context, r *weir.Request) ([]engine.Usage, string, error)
	Reset(ctx context.Context, r *weir.Request) ([]engine.Usage, string, error)
}

// Admin serves weir.v1.Admin. It belongs on the admin listener only.
type Admin struct {
	weirv1.UnimplementedAdminServer
	operator Operator
}

var _ weirv1.AdminServer = (*Admin)(nil)

// NewAdmin returns a service that asks o.
func NewAdmin(o Operator) *Admin { return &Admin{operator: o} }

// GetUsage implements the service.
func (a *Admin) GetUsage(ctx context.Context, in *weirv1.GetUsageRequest) (*weirv1.GetUsageResponse, error) {
	var r weir.Request
	if err := wire.Subject(in, &r); err != nil {
		return nil, grpcerr.Status(err)
	}
	list, version, err := a.operator.Usage(ctx, &r)
	if err != nil {
		return nil, grpcerr.Status(err)
	}
	return &weirv1.GetUsageResponse{Usages: usages(list), PolicyVersion: version}, nil
}

// ResetKey implements the service.
func (a *Admin) ResetKey(ctx context.Context, in *weirv1.ResetKeyRequest) (*weirv1.ResetKeyResponse, error) {
	var r weir.Request
	if err := wire.Subject(in, &r); err != nil {
		return nil, grpcerr.Status(err)
	}
	list, version, err := a.operator.Reset(ctx, &r)
	if err != nil {
		return nil, grpcerr.Status(err)
	}
	return &weirv1.ResetKeyResponse{Before: usages(list), PolicyVersion: version}, nil
}

func usages(list []engine.Usage) []*weirv1.Usage {
	out := make([]*weirv1.Usage, len(list))
	for i := range list {
		u := &list[i]
		out[i] = &weirv1.Usage{
			Quota: wire.Quota(u.Rule, u.Limit), Mode: weirv1.ChargeMode(u.Mode), Key: []byte(u.Key),
			Used: u.Outcome.Before.Used, Remaining: u.Outcome.Remaining, ResetAfterUs: int64(u.Outcome.ResetAfter),
		}
		if len(u.Parts) > 1 {
			out[i].Shards = int32(len(u.Parts))
		}
	}
	return out
}
