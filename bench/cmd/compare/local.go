package main

import (
	"context"
	"time"

	"github.com/weirlimit/weir/bench/internal/measure"
	"github.com/weirlimit/weir/bench/internal/peer"
	"github.com/weirlimit/weir/internal/redistest"
)

// measureLocal measures one key with ever more of the local tier: one with more
// units than anybody asks for, then one that has none left.
func measureLocal(ctx context.Context, o options, srv *redistest.Server, log func(string, ...any)) ([]measure.LoadTable, error) {
	plan := redisPlan(o, log)
	plan.Scenarios = []measure.Scenario{
		{Name: "one hot key, 64 callers", Keys: 1, Callers: 64, Limit: peer.Limit{Count: 10_000_000, Period: time.Second}},
	}
	tables, err := measure.Redis(ctx, plan, srv, peer.OneHotKey())
	if err != nil {
		return nil, err
	}
	plan.Scenarios = []measure.Scenario{
		{Name: "one exhausted key, 64 callers", Keys: 1, Callers: 64, Limit: peer.Limit{Count: 1, Period: time.Hour}, Denied: true},
	}
	flood, err := measure.Redis(ctx, plan, srv, peer.Flooded())
	return append(tables, flood...), err
}
