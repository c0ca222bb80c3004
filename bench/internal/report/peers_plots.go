package report

import (
	"fmt"

	"github.com/weirlimit/weir/bench/internal/contest"
	"github.com/weirlimit/weir/bench/internal/plot"
	"github.com/weirlimit/weir/bench/internal/stat"
)

// plots draws all that was measured, by file.
func (p Peers) plots() map[string]string {
	files := map[string]string{}
	if len(p.Result.Scenarios) > 0 {
		files[cpuPlot] = p.cpuBars().SVG()
	}
	if t, ok := p.Result.Table(contest.OpenLoop); ok {
		files[openPlot] = plot.Bars{Title: "Latency in the open loop, 8,000 requests/s (less is better)", Unit: "ms", Groups: latencyGroups(t)}.SVG()
	}
	for _, c := range p.Result.Latency {
		files[loadPlot(c)] = latencyLines(c).SVG()
	}
	for _, c := range p.Result.Growth {
		if !c.Peer {
			files[growthPlot(c)] = growthLines(c).SVG()
		}
	}
	if beside := p.besideLines(); len(beside.Series) > 1 {
		files[besidePlot] = beside.SVG()
	}
	if l := p.Result.Libraries; l != nil {
		files[librariesPlot] = libraryBars(l).SVG()
	}
	return files
}

func (p Peers) cpuBars() plot.Bars {
	out := plot.Bars{Title: "CPU per decision, server + Redis (less is better)", Unit: "us", Parts: []string{"server", "Redis"}}
	for _, t := range p.Result.Scenarios {
		g := plot.Group{Name: t.Name}
		for _, r := range t.Rows {
			g.Bars = append(g.Bars, plot.Bar{Label: r.System, Ours: r.Ours, Parts: []float64{
				median(contest.Of(r.Samples, func(s contest.Sample) float64 { return s.Server })),
				median(contest.Of(r.Samples, func(s contest.Sample) float64 { return s.RedisCPU })),
			}})
		}
		out.Groups = append(out.Groups, g)
	}
	return out
}

// quantiles are those that latencies are told by.
var quantiles = []struct {
	name string
	of   func(contest.Sample) float64
}{
	{"p50", p50},
	{"p99", p99},
	{"p99.9", p999},
}

func latencyGroups(t contest.Table) []plot.Group {
	var groups []plot.Group
	for _, q := range quantiles {
		g := plot.Group{Name: q.name}
		for _, r := range t.Rows {
			g.Bars = append(g.Bars, plot.Bar{Label: r.System, Ours: r.Ours, Parts: []float64{median(contest.Of(r.Samples, q.of))}})
		}
		groups = append(groups, g)
	}
	return groups
}

// latencyLines are the quantiles of one curve beside the budgets.
func latencyLines(c contest.Curve) plot.Lines {
	out := plot.Lines{
		Title: fmt.Sprintf("Latency %s, open loop, at shares of %s/s", c.Name, figure(c.Capacity)),
		X:     "requests a second, and share of the capacity", Y: "ms", LogY: true,
		Marks: []plot.Mark{
			{Name: fmt.Sprintf("budget of p99: %.0f ms", tailBudget(c)), Y: tailBudget(c)},
			{Name: fmt.Sprintf("fail-open: %d ms", failOpen), Y: failOpen},
		},
	}
	for _, q := range quantiles {
		out.Series = append(out.Series, series(q.name, c, q.of))
	}
	noise := series("noise: how late a plain timer was, p99.9", c, func(s contest.Sample) float64 { return s.TimerP999 })
	noise.Bare = true
	out.Series = append(out.Series, noise)
	return out
}

// growthLines is one curve within its band.
func growthLines(c contest.Curve) plot.Lines {
	s := series(c.System, c, contest.Sample.CPU)
	middle := curveMedian(c)
	s.Low, s.High = middle*(1-maxDeviation), middle*(1+maxDeviation)
	s.Name += fmt.Sprintf("; the band is %.0f%% about the median of the sizes", maxDeviation*100)
	return plot.Lines{Title: "CPU per decision: " + c.Name, X: c.Unit, Y: "us a decision, server + Redis", Series: []plot.Series{s}}
}

// besideLines is Weir and the peer on Redis, by factors.
func (p Peers) besideLines() plot.Lines {
	out := plot.Lines{Title: "CPU per decision as keys in Redis grow, beside the peer", X: "keys", Y: "us a decision, server + Redis", LogY: true}
	peer := false
	for _, c := range p.Result.Growth {
		if c.Unit == "keys" && (c.Peer || c.Name == keysInRedis) {
			out.Series = append(out.Series, series(c.System, c, contest.Sample.CPU))
			peer = peer || c.Peer
		}
	}
	if !peer {
		out.Series = nil
	}
	return out
}

func libraryBars(l *contest.Libraries) plot.Bars {
	out := plot.Bars{Title: "In process, CPU per check (less is better)", Unit: "ns"}
	for _, t := range l.Memory.Speed {
		g := plot.Group{Name: fmt.Sprintf("libraries in memory, %s keys, %s", count(t.Keys), cores(t.Cores))}
		for _, r := range t.Rows {
			g.Bars = append(g.Bars, plot.Bar{Label: r.Name, Ours: r.Ours, Parts: []float64{median(r.CPU)}})
		}
		out.Groups = append(out.Groups, g)
	}
	g := plot.Group{Name: "Weir's engine.Check, metrics on"}
	for _, r := range l.Engine {
		g.Bars = append(g.Bars, plot.Bar{Label: r.Name, Ours: true, Parts: []float64{median(r.CPU)}})
	}
	out.Groups = append(out.Groups, g)
	return out
}

func series(name string, c contest.Curve, f func(contest.Sample) float64) plot.Series {
	out := plot.Series{Name: name}
	for _, pt := range c.Points {
		s := stat.Summarize(contest.Of(pt.Samples, f))
		label := figureOf(pt.X)
		if pt.Share > 0 {
			label = fmt.Sprintf("%s (%.0f%%)", label, pt.Share*100)
		}
		out.Points = append(out.Points, plot.Point{X: pt.X, Label: label, Y: s.Median, Least: s.Min, Most: s.Max})
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
