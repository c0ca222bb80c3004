package report

import (
	"github.com/weirlimit/weir/bench/internal/contest"
	"github.com/weirlimit/weir/bench/internal/plot"
	"github.com/weirlimit/weir/bench/internal/stat"
)

// plots draws all, by file.
func (p Peers) plots() map[string]string {
	cpu := plot.Bars{
		Title: "CPU per decision, server + Redis (less is better)", Unit: "us",
		Parts: []string{"server", "Redis"},
	}
	latency := plot.Bars{Title: "Latency in the open loop, 8,000 requests/s (less is better)", Unit: "ms"}
	for _, t := range p.Result.Scenarios {
		if t.Open {
			latency.Groups = latencyGroups(t)
		}
		g := plot.Group{Name: t.Name}
		for _, r := range t.Rows {
			g.Bars = append(g.Bars, plot.Bar{Label: r.System, Ours: r.Ours, Parts: []float64{
				median(contest.Of(r.Samples, func(s contest.Sample) float64 { return s.Server })),
				median(contest.Of(r.Samples, func(s contest.Sample) float64 { return s.RedisCPU })),
			}})
		}
		cpu.Groups = append(cpu.Groups, g)
	}
	keys := plot.Lines{Title: "CPU per decision as keys grow", X: "keys", Y: "us a decision, server + Redis"}
	rules := plot.Lines{Title: "CPU per decision as rules grow", X: "rules", Y: "us a decision, server"}
	for _, c := range p.Result.Growth {
		to := &keys
		if c.Unit == "rules" {
			to = &rules
		}
		to.Series = append(to.Series, series(c, contest.Sample.CPU))
	}
	load := plot.Lines{Title: "p99 below capacity, open loop", X: "requests a second", Y: "ms"}
	for _, c := range p.Result.Latency {
		load.Series = append(load.Series, series(c, p99))
	}
	return map[string]string{
		loadPlot: load.SVG(), cpuPlot: cpu.SVG(), latencyPlot: latency.SVG(), keysPlot: keys.SVG(), rulesPlot: rules.SVG(),
	}
}

func latencyGroups(t contest.Table) []plot.Group {
	var groups []plot.Group
	for _, q := range []struct {
		name string
		of   func(contest.Sample) float64
	}{
		{"p50", p50},
		{"p99", p99},
		{"p99.9", p999},
	} {
		g := plot.Group{Name: q.name}
		for _, r := range t.Rows {
			g.Bars = append(g.Bars, plot.Bar{Label: r.System, Ours: r.Ours, Parts: []float64{median(contest.Of(r.Samples, q.of))}})
		}
		groups = append(groups, g)
	}
	return groups
}

func series(c contest.Curve, f func(contest.Sample) float64) plot.Series {
	out := plot.Series{Name: c.Name + ": " + c.System}
	for _, pt := range c.Points {
		s := stat.Summarize(contest.Of(pt.Samples, f))
		out.Points = append(out.Points, plot.Point{X: pt.X, Label: figureOf(pt.X), Y: s.Median, Least: s.Min, Most: s.Max})
	}
	return out
}

// figureOf writes a size: exactly when it is a round one.
func figureOf(x float64) string {
	if n := int(x); n%1000 == 0 || n < 1000 {
		return count(n)
	}
	return figure(x)
}
