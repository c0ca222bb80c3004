package report

import (
	"fmt"

	"github.com/weirlimit/weir/bench/internal/contest"
	"github.com/weirlimit/weir/bench/internal/stat"
)

// The bars against the peer.
const (
	minOneTimes    = 8
	minThreeTimes  = 5
	minHotPeer     = 25
	minHotServed   = 150_000 // decisions a second, one hot key, over RLS
	minDeniedTimes = 30
	minLocalRate   = 500_000 // decisions a second, embedded or leased, over RLS
	minP99Times    = 3
	maxDeviation   = 0.15
)

// Bars judges all that was measured. Of several engines the last is judged.
func (p Peers) Bars() []Bar {
	bars := p.answerBars()
	bars = append(bars, p.cpu(contest.OneDescriptor, minOneTimes)...)
	bars = append(bars, p.cpu(contest.ThreeDescriptors, minThreeTimes)...)
	bars = append(bars, p.cpu(contest.HotKey, minHotPeer)...)
	bars = append(bars, p.rate(minHotServed, contest.HotKey)...)
	bars = append(bars, p.cpu(contest.DeniedFlood, minDeniedTimes)...)
	bars = append(bars, p.rate(minLocalRate, contest.Embedded, contest.Leased)...)
	bars = append(bars, p.tail()...)
	return append(bars, p.flat()...)
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

// cpu: so many times less server + Redis time than the tuned peer.
func (p Peers) cpu(scenario string, least float64) []Bar {
	t, ours, base, ok := p.pair(scenario)
	if !ok {
		return nil
	}
	r := ratios(base, ours, contest.Sample.CPU)
	return []Bar{{
		Promise: fmt.Sprintf("%s: at least %.0fx less CPU than %s", t.Name, least, base.System),
		Measured: fmt.Sprintf("%s %s us, peer %s us, %s", ours.System,
			figure(median(contest.Of(ours.Samples, contest.Sample.CPU))),
			figure(median(contest.Of(base.Samples, contest.Sample.CPU))), timesSpread(r)),
		Met: median(r) >= least,
	}}
}

// rate: so many decisions a second in the best of the scenarios.
func (p Peers) rate(least float64, scenarios ...string) []Bar {
	var best float64
	var by, name string
	for _, s := range scenarios {
		t, _ := p.Result.Table(s)
		row, ok := t.Judged()
		if !ok {
			continue
		}
		if v := median(contest.Of(row.Samples, func(s contest.Sample) float64 { return s.Rate })); v > best {
			best, by, name = v, row.System, t.Name
		}
	}
	if by == "" {
		return nil
	}
	return []Bar{{
		Promise:  fmt.Sprintf("%s: at least %s decisions/s beside the generator", name, figure(least)),
		Measured: fmt.Sprintf("%s %s/s", by, figure(best)),
		Met:      best >= least,
	}}
}

// tail: a third of the peer's p99 in the open loop.
func (p Peers) tail() []Bar {
	t, ours, base, ok := p.pair(contest.OpenLoop)
	if !ok {
		return nil
	}
	r := ratios(base, ours, p99)
	return []Bar{{
		Promise: fmt.Sprintf("%s: p99 at most a third of %s", t.Name, base.System),
		Measured: fmt.Sprintf("%s %s ms, peer %s ms, %s", ours.System,
			digits(median(contest.Of(ours.Samples, p99))), digits(median(contest.Of(base.Samples, p99))), timesSpread(r)),
		Met: median(r) >= minP99Times,
	}}
}

// flat: no size costs more or less than 15% beside the median size.
func (p Peers) flat() []Bar {
	var bars []Bar
	for _, c := range p.Result.Growth {
		if len(c.Points) == 0 {
			continue
		}
		last := c.Points[len(c.Points)-1].X
		d := deviation(c)
		bars = append(bars, Bar{
			Promise: fmt.Sprintf("%s, %s to %s: CPU per decision flat within %.0f%%",
				c.Name, count(int(c.Points[0].X)), count(int(last)), maxDeviation*100),
			Measured: fmt.Sprintf("%s %s us, farthest size %.0f%% away", c.System, digits(curveMedian(c)), d*100),
			Met:      stat.Ratio(d, 1) <= maxDeviation,
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
	base, ok = baseline(t)
	return t, ours, base, ok
}
