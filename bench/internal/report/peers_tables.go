package report

import (
	"fmt"
	"math"

	"github.com/weirlimit/weir/bench/internal/contest"
	"github.com/weirlimit/weir/bench/internal/stat"
)

// baseline is the system that a scenario's others are held against.
func baseline(t contest.Table) (contest.Row, bool) {
	if r, ok := t.Row(contest.PeerCached); ok {
		return r, true
	}
	return t.Row(contest.PeerTuned)
}

// ratios are how many times base's figure a row's goes into it, round by round:
// both took their turn within the same minute.
func ratios(base, row contest.Row, f func(contest.Sample) float64) []float64 {
	var out []float64
	for i := range min(len(base.Samples), len(row.Samples)) {
		out = append(out, stat.Ratio(f(base.Samples[i]), f(row.Samples[i])))
	}
	return out
}

func contestTable(t contest.Table) Table {
	out := Table{Head: []string{
		"system", "decisions/s", "p50 ms", "p99 ms", "p99.9 ms", "server us", "Redis us", "server + Redis us",
		"against the tuned peer", "generator us",
	}}
	base, ok := baseline(t)
	for _, r := range t.Rows {
		med := func(f func(contest.Sample) float64) string { return digits(median(contest.Of(r.Samples, f))) }
		against := "-"
		if ok {
			against = timesSpread(ratios(base, r, contest.Sample.CPU))
		}
		out.Rows = append(out.Rows, []string{
			r.System,
			spread(contest.Of(r.Samples, func(s contest.Sample) float64 { return s.Rate })),
			med(p50),
			spread(contest.Of(r.Samples, p99)),
			med(p999),
			med(func(s contest.Sample) float64 { return s.Server }),
			med(func(s contest.Sample) float64 { return s.RedisCPU }),
			spread(contest.Of(r.Samples, contest.Sample.CPU)),
			against,
			med(func(s contest.Sample) float64 { return s.Generator }),
		})
	}
	return out
}

func p50(s contest.Sample) float64  { return s.P50 }
func p99(s contest.Sample) float64  { return s.P99 }
func p999(s contest.Sample) float64 { return s.P999 }

// timesSpread writes a ratio with the least and the most of the rounds.
func timesSpread(ratios []float64) string {
	s := stat.Summarize(ratios)
	return fmt.Sprintf("%sx (%s-%s)", digits(s.Median), digits(s.Min), digits(s.Max))
}

func curveTable(c contest.Curve) Table {
	out := Table{Head: []string{c.Unit, "server us", "Redis us", "server + Redis us", "against the median size"}}
	middle := curveMedian(c)
	for _, pt := range c.Points {
		cpu := contest.Of(pt.Samples, contest.Sample.CPU)
		out.Rows = append(out.Rows, []string{
			count(int(pt.X)),
			digits(median(contest.Of(pt.Samples, func(s contest.Sample) float64 { return s.Server }))),
			digits(median(contest.Of(pt.Samples, func(s contest.Sample) float64 { return s.RedisCPU }))),
			spread(cpu),
			signed(stat.Ratio(median(cpu), middle) - 1),
		})
	}
	return out
}

func latencyTable(c contest.Curve) Table {
	out := Table{Head: []string{"share of capacity", "requests/s", "p50 ms", "p99 ms", "p99.9 ms", "server + Redis us", "not sent"}}
	for _, pt := range c.Points {
		of := func(f func(contest.Sample) float64) string { return spread(contest.Of(pt.Samples, f)) }
		unsent := contest.Of(pt.Samples, func(s contest.Sample) float64 {
			return stat.Ratio(float64(s.Unsent), float64(s.Unsent+s.OK+s.Denied+s.Failed))
		})
		out.Rows = append(out.Rows, []string{
			fmt.Sprintf("%.0f%%", pt.Share*100), figure(pt.X), of(p50), of(p99), of(p999), of(contest.Sample.CPU), percent(median(unsent)),
		})
	}
	return out
}

// curveMedian is of the medians of all sizes.
func curveMedian(c contest.Curve) float64 {
	var all []float64
	for _, pt := range c.Points {
		all = append(all, median(contest.Of(pt.Samples, contest.Sample.CPU)))
	}
	return median(all)
}

// deviation is how far the size that is farthest from the median is from it.
func deviation(c contest.Curve) float64 {
	middle, most := curveMedian(c), 0.0
	for _, pt := range c.Points {
		d := stat.Ratio(median(contest.Of(pt.Samples, contest.Sample.CPU)), middle) - 1
		most = max(most, math.Abs(d))
	}
	return most
}

func signed(share float64) string { return fmt.Sprintf("%+.0f%%", share*100) }
