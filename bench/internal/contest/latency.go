package contest

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/weirlimit/weir/bench/internal/stat"
)

// shares of the capacity at which latency is measured.
var shares = []float64{0.10, 0.25, 0.50, 0.75}

// The curves of latency.
const (
	ThroughRedis   = "through Redis"
	DecidedLocally = "decided locally"
)

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

// latency measures Weir below its capacity. What the scenarios told of that is
// used; what they did not is measured first.
func (p Plan) latency(ctx context.Context, a *arena, eng []string, res *Result) error {
	rec, err := p.recording(partLatency, uniform(10_000, "tenant")(rand.New(rand.NewPCG(p.Seed, 99)), recordLen))
	if err != nil {
		return err
	}
	eng = eng[len(eng)-1:] // the one that is judged
	sc := Scenario{Config: config(most, "hour", "tenant"), Redis: true}
	c := contender{Scenario: sc, requests: rec}
	for _, of := range []struct {
		scenario, name string
		system         System
	}{
		{OneDescriptor, ThroughRedis, weirs(eng, "", false)[0]},
		{Embedded, DecidedLocally, weirs(eng, ", memory", true)[0]},
	} {
		capacity, ok := res.capacity(of.scenario)
		if !ok {
			c.Name = partLatency + " " + of.name + ", capacity"
			s, err := p.attempt(ctx, a, c, of.system)
			if err != nil {
				return err
			}
			capacity = s.Rate
			p.Log("%s: %.0f/s", c.Name, capacity)
		}
		curve := Curve{Name: of.name, Note: "10k keys, allowed.", System: of.system.Name, Unit: "requests/s", Capacity: capacity}
		for _, share := range shares {
			curve.Points = append(curve.Points, Point{X: max(1, float64(int(capacity*share))), Share: share})
		}
		for round := range p.Rounds {
			for i := range curve.Points {
				c.Name = partLatency + " " + of.name
				s, err := p.underShare(ctx, a, c, of.system, &curve.Points[i])
				if err != nil {
					return fmt.Errorf("latency %s: %w", of.name, err)
				}
				p.Log("round %d/%d, latency %s: %.0f requests/s: p50 %.3f, p99 %.3f, p99.9 %.3f ms; a timer's p99.9 %.3f ms",
					round+1, p.Rounds, of.name, curve.Points[i].X, s.P50, s.P99, s.P999, s.TimerP999)
			}
		}
		res.Latency = append(res.Latency, curve)
	}
	return nil
}

// underShare takes a turn at a point's rate, and adds it to the point.
func (p Plan) underShare(ctx context.Context, a *arena, c contender, sys System, pt *Point) (Sample, error) {
	warmUp, length := p.span()
	t := turn{name: "latency", config: c.Config, system: sys, load: load{
		requests: c.requests, rate: int(pt.X), warmUp: warmUp, measure: length, scrape: true,
	}}
	s, err := p.insist(ctx, c.Scenario, sys, func() (Sample, error) { return a.take(ctx, t) })
	pt.Samples = append(pt.Samples, s)
	return s, err
}
