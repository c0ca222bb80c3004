package contest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/weirlimit/weir/bench/internal/rlsload"
	"github.com/weirlimit/weir/bench/internal/stat"
)

// shares of the capacity at which latency is measured.
var shares = []float64{0.10, 0.25, 0.50, 0.75}

// capacity is how many decisions a second ours made in a scenario, of callers
// who wait.
func (r *Result) capacity(scenario string) (float64, bool) {
	t, _ := r.Table(scenario)
	row, ok := t.Judged()
	if !ok {
		return 0, false
	}
	return stat.Summarize(Of(row.Samples, func(s Sample) float64 { return s.Rate })).Median, true
}

// latency measures Weir below its capacity, as far as that is known.
func (p Plan) latency(ctx context.Context, a *arena, eng []string, res *Result) error {
	length := 2 * time.Second
	if p.Quick {
		length = 500 * time.Millisecond
	}
	eng = eng[len(eng)-1:] // the one that is judged
	for _, c := range []struct {
		scenario, name string
		system         System
	}{
		{OneDescriptor, "through Redis", weirs(eng, "", false)[0]},
		{Embedded, "decided locally", weirs(eng, ", memory", true)[0]},
	} {
		capacity, ok := res.capacity(c.scenario)
		if !ok {
			continue
		}
		script, err := rlsload.NewScript(uniform(10_000, "tenant")(rand.New(rand.NewPCG(p.Seed, 99)), recordLen))
		if err != nil {
			return err
		}
		curve, err := interleave(growthPlan{samples: p.Rounds}, func(growthPlan) (Curve, error) {
			out := Curve{Name: c.name, Note: "10k keys, allowed.", System: c.system.Name, Unit: "requests/s"}
			for _, share := range shares {
				rate := max(1, int(capacity*share))
				p.Log("latency %s: %d requests/s", c.name, rate)
				s, err := a.take(ctx, turn{
					name: "latency", config: config(10_000_000, "tenant"), system: c.system, script: script,
					rate: rate, warmUp: 500 * time.Millisecond, measure: length,
				})
				if err != nil {
					return out, fmt.Errorf("latency %s: %w", c.name, err)
				}
				out.Points = append(out.Points, Point{X: float64(rate), Share: share, Samples: []Sample{s}})
			}
			return out, nil
		})
		if err != nil {
			return err
		}
		res.Latency = append(res.Latency, curve)
	}
	return nil
}
