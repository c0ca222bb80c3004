package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirlimit/weir/bench/internal/contest"
	"github.com/weirlimit/weir/bench/internal/stat"
)

// The bars against the peer. A stretch of 0 is none.
const (
	minOneTimes, stretchOneTimes     = 8, 20
	minThreeTimes, stretchThreeTimes = 5, 15
	minHotPeer                       = 25
	minHotServed                     = 150_000 // decisions a second, one hot key, over RLS
	minDeniedTimes                   = 30
	minLocalRate, stretchLocalRate   = 500_000, 1_500_000 // decisions a second, embedded and leased, over RLS
	minP99Times                      = 3
	maxDeviation                     = 0.15
	maxCheck                         = 300 // ns of engine.Check
)

// Bars judges all that was measured, by the medians of the rounds. Of several
// engines the last is judged.
func (p Peers) Bars() []Bar {
	return slices.Concat(
		p.answerBars(),
		p.cpu(contest.OneDescriptor, minOneTimes, stretchOneTimes),
		p.cpu(contest.ThreeDescriptors, minThreeTimes, stretchThreeTimes),
		p.cpu(contest.HotKey, minHotPeer, 0),
		p.rate(contest.HotKey, minHotServed, 0),
		p.cpu(contest.DeniedFlood, minDeniedTimes, 0),
		p.rate(contest.Embedded, minLocalRate, stretchLocalRate),
		p.rate(contest.Leased, minLocalRate, stretchLocalRate),
		p.engineBars(),
		p.tail(),
		p.flat(),
		p.budgetBars(),
	)
}

// answerBars: every answer is the peer's.
func (p Peers) answerBars() []Bar {
	if p.Result.Answers == nil {
		return nil
	}
	var bars []Bar
	for _, m := range p.Result.Answers.Rows {
		bars = append(bars, Bar{
			Promise:  "answers: " + m.System + " answers as the peer does",
			Measured: fmt.Sprintf("%d of %d differ", m.Count, p.Result.Answers.Requests),
			Met:      m.Count == 0,
		})
	}
	return bars
}

// doubted fails a bar of a scenario in which a turn measured something else than
// it should have.
func doubted(t contest.Table, b Bar) []Bar {
	for _, r := range t.Rows {
		if n := len(contest.Refused(r.Samples)); n > 0 {
			b.Met, b.Stretch = false, ""
			b.Measured += fmt.Sprintf("; %d turns of %s are to be doubted", n, r.System)
		}
	}
	return []Bar{b}
}

// stretch says whether more than a bar is cleared.
func stretch(what string, got, want float64) string {
	if want == 0 {
		return ""
	}
	return what + ": " + Bar{Met: got >= want}.Verdict()
}

// cpu: so many times less server + Redis time than the tuned peer.
func (p Peers) cpu(scenario string, least, more float64) []Bar {
	t, ours, base, ok := p.pair(scenario)
	if !ok {
		return nil
	}
	r := ratios(base, ours, contest.Sample.CPU)
	return doubted(t, Bar{
		Promise: fmt.Sprintf("%s: at least %.0fx less CPU than %s", t.Name, least, base.System),
		Measured: fmt.Sprintf("%s %s us, peer %s us, %s", ours.System,
			figure(median(contest.Of(ours.Samples, contest.Sample.CPU))),
			figure(median(contest.Of(base.Samples, contest.Sample.CPU))), timesSpread(r)),
		Met:     median(r) >= least,
		Stretch: stretch(fmt.Sprintf("%.0fx", more), median(r), more),
	})
}

// rate: so many decisions a second.
func (p Peers) rate(scenario string, least, more float64) []Bar {
	t, _ := p.Result.Table(scenario)
	row, ok := t.Judged()
	if !ok {
		return nil
	}
	rates := contest.Of(row.Samples, func(s contest.Sample) float64 { return s.Rate })
	return doubted(t, Bar{
		Promise:  fmt.Sprintf("%s: at least %s decisions/s beside the generator", t.Name, figure(least)),
		Measured: fmt.Sprintf("%s %s/s", row.System, spread(rates)),
		Met:      median(rates) >= least,
		Stretch:  stretch(figure(more)+"/s", median(rates), more),
	})
}

// tail: a third of the peer's p99 in the open loop.
func (p Peers) tail() []Bar {
	t, ours, base, ok := p.pair(contest.OpenLoop)
	if !ok {
		return nil
	}
	r := ratios(base, ours, p99)
	return doubted(t, Bar{
		Promise: fmt.Sprintf("%s: p99 at most a third of %s", t.Name, base.System),
		Measured: fmt.Sprintf("%s %s ms, peer %s ms, %s", ours.System,
			digits(median(contest.Of(ours.Samples, p99))), digits(median(contest.Of(base.Samples, p99))), timesSpread(r)),
		Met: median(r) >= minP99Times,
	})
}

// flat: no size costs more or less than 15% beside the median size.
func (p Peers) flat() []Bar {
	var bars []Bar
	for _, c := range p.Result.Growth {
		if len(c.Points) == 0 || c.Peer {
			continue
		}
		last := c.Points[len(c.Points)-1].X
		d := deviation(c)
		b := Bar{
			Promise: fmt.Sprintf("%s, %s to %s: CPU per decision flat within %.0f%%",
				c.Name, count(int(c.Points[0].X)), count(int(last)), maxDeviation*100),
			Measured: fmt.Sprintf("%s %s us, farthest size %.0f%% away", c.System, digits(curveMedian(c)), d*100),
			Met:      stat.Ratio(d, 1) <= maxDeviation,
		}
		for _, pt := range c.Points {
			if n := len(contest.Refused(pt.Samples)); n > 0 {
				b.Met = false
				b.Measured += fmt.Sprintf("; %d samples of %s are to be doubted", n, count(int(pt.X)))
			}
		}
		bars = append(bars, b)
	}
	return bars
}

// budgetBars: p99 within what the field quotes, at every share of the capacity.
func (p Peers) budgetBars() []Bar {
	var bars []Bar
	for _, c := range p.Result.Latency {
		b := Bar{
			Promise: fmt.Sprintf("latency %s: p99 below %.0f ms at 10, 25, 50 and 75%% of the capacity", c.Name, tailBudget(c)),
			Met:     true,
		}
		var all []string
		for _, pt := range c.Points {
			v := median(contest.Of(pt.Samples, p99))
			all = append(all, digits(v))
			b.Met = b.Met && v < tailBudget(c)
		}
		b.Measured = fmt.Sprintf("%s %s ms of %s/s", c.System, strings.Join(all, ", "), figure(c.Capacity))
		bars = append(bars, b)
	}
	return bars
}

// engineBars: engine.Check in memory and leased is quick, and allocates nothing.
func (p Peers) engineBars() []Bar {
	if p.Result.Libraries == nil {
		return nil
	}
	var bars []Bar
	for _, r := range p.Result.Libraries.Engine {
		if !strings.HasPrefix(r.Name, "memory") && !strings.HasPrefix(r.Name, "leased") {
			continue
		}
		const none = 0.001 // the runtime's own, now and then
		bars = append(bars, Bar{
			Promise:  fmt.Sprintf("engine.Check, %s: under %d ns and no allocation, metrics on", r.Name, maxCheck),
			Measured: fmt.Sprintf("%s ns of CPU, %s allocations", spread(r.CPU), digits(median(r.News))),
			Met:      median(r.CPU) < maxCheck && median(r.News) < none,
		})
	}
	return bars
}

// pair finds what a bar compares.
func (p Peers) pair(scenario string) (t contest.Table, ours, base contest.Row, ok bool) {
	if t, ok = p.Result.Table(scenario); !ok {
		return t, ours, base, false
	}
	if ours, ok = t.Judged(); !ok {
		return t, ours, base, false
	}
	base, ok = t.Row(ours.Against)
	return t, ours, base, ok
}
