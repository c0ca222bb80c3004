package contest

import (
	"context"

	"github.com/weirlimit/weir/bench/internal/measure"
	"github.com/weirlimit/weir/bench/internal/peer"
)

// libraries measures Go libraries in this process, and engine.Check beside them.
func (p Plan) libraries(ctx context.Context, _ *arena, _ []string, res *Result) error {
	plan := measure.MemoryPlan{Keys: []int{10_000}, Cores: []int{1}, Checks: 1_500_000, Rounds: p.Rounds, Log: p.Log}
	engines := measure.EnginePlan{Checks: 700_000, Rounds: 3 * p.Rounds, Log: p.Log} // many and short, as those of few keys
	if p.Quick {
		plan.Checks /= 5
		engines.Checks /= 5
	}
	memory, err := measure.Memory(plan, peer.InMemory())
	if err != nil {
		return err
	}
	engine, err := measure.Engine(ctx, engines, peer.Engines())
	if err != nil {
		return err
	}
	res.Libraries = &Libraries{Modules: measure.Modules(peer.Modules), Memory: memory, Engine: engine}
	return nil
}
