package measure

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/bench/internal/peer"
	"github.com/weirlimit/weir/bench/internal/redisproc"
	"github.com/weirlimit/weir/engine"
)

// EnginePlan says how to measure engine.Check.
type EnginePlan struct {
	Checks int // of a situation in a round
	Rounds int
	Log    func(format string, args ...any)
}

// Engine measures engine.Check on one goroutine, the situations in turns.
func Engine(ctx context.Context, plan EnginePlan, cases []peer.Engine) (rows []SpeedRow, err error) {
	err = redisproc.With(func(t testing.TB) error {
		var asks []*engineAsk
		for _, c := range cases {
			a := newEngineAsk(c, c.New(t))
			if err := a.warm(ctx); err != nil {
				return fmt.Errorf("engine.Check, %s: %w", c.Name, err)
			}
			asks, rows = append(asks, a), append(rows, SpeedRow{Name: c.Name, Ours: true})
		}
		for round := range plan.Rounds {
			plan.Log("engine.Check, round %d of %d", round+1, plan.Rounds)
			for i, a := range asks {
				if err := a.time(ctx, &rows[i], plan.Checks); err != nil {
					return fmt.Errorf("engine.Check, %s: %w", a.Name, err)
				}
			}
		}
		return nil
	})
	return rows, err
}

// engineAsk asks an engine for one key after the other, with a request that is
// used again as a server's is.
type engineAsk struct {
	peer.Engine
	engine    *engine.Engine
	keys      []string
	request   weir.Request
	decision  weir.Decision
	next      int
	elsewhere int // decisions that came from elsewhere than From
}

func newEngineAsk(c peer.Engine, e *engine.Engine) *engineAsk {
	return &engineAsk{
		Engine: c, engine: e, keys: sequence(c.Keys, 1),
		request: weir.Request{Domain: "default", Cost: 1, Descriptors: []weir.Descriptor{{Pairs: []weir.Pair{{Name: "tenant"}}}}},
	}
}

func (a *engineAsk) check(ctx context.Context) error {
	a.request.Descriptors[0].Pairs[0].Value = a.keys[a.next]
	if a.next++; a.next == len(a.keys) {
		a.next = 0
	}
	err := a.engine.Check(ctx, &a.request, &a.decision)
	if a.decision.Source != a.From {
		a.elsewhere++
	}
	return err
}

// warm asks until decisions come from where they should: leases are given to
// who asked for some time.
func (a *engineAsk) warm(ctx context.Context) error {
	const few = 1000
	for began := time.Now(); time.Since(began) < 20*time.Second; {
		a.elsewhere = 0
		for range max(few, 2*len(a.keys)) {
			if err := a.check(ctx); err != nil {
				return err
			}
		}
		if a.elsewhere == 0 {
			return nil
		}
	}
	return fmt.Errorf("decisions come from %s, not from %s", a.decision.Source, a.From)
}

// time adds one round to row.
func (a *engineAsk) time(ctx context.Context, row *SpeedRow, checks int) error {
	a.elsewhere = 0
	start := used(false)
	for range checks {
		if err := a.check(ctx); err != nil {
			return err
		}
	}
	end := used(true)
	if few := checks/100 + 1; a.elsewhere > few {
		return fmt.Errorf("%d of %d decisions were not from %s", a.elsewhere, checks, a.From)
	}
	n := float64(checks)
	row.Wall = append(row.Wall, float64(end.at.Sub(start.at))/n)
	row.CPU = append(row.CPU, float64(end.cpu-start.cpu)/n)
	row.News = append(row.News, float64(end.mallocs-start.mallocs)/n)
	return nil
}
