package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/weirlimit/weir/bench/internal/contest"
	"github.com/weirlimit/weir/bench/internal/measure"
	"github.com/weirlimit/weir/bench/internal/stat"
)

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
		"against the peer", "generator us",
	}}
	for _, r := range t.Rows {
		med := func(f func(contest.Sample) float64) string { return digits(median(contest.Of(r.Samples, f))) }
		against := "-"
		if base, ok := t.Row(r.Against); ok {
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
	away := deviations(c)
	for i, pt := range c.Points {
		cpu := contest.Of(pt.Samples, contest.Sample.CPU)
		out.Rows = append(out.Rows, []string{
			count(int(pt.X)),
			digits(median(contest.Of(pt.Samples, func(s contest.Sample) float64 { return s.Server }))),
			digits(median(contest.Of(pt.Samples, func(s contest.Sample) float64 { return s.RedisCPU }))),
			spread(cpu),
			signed(away[i]),
		})
	}
	return out
}

// What the field quotes, in milliseconds.
const (
	localBudget, redisBudget = 1, 5 // p99 of a check
	failOpen                 = 3    // the deadline that callers fail open at
)

// added is what a gateway is to be slower by: p50, p99 and p99.9.
var added = [3]float64{0.3, 1.5, 4}

// tailBudget is the p99 that a curve is held to.
func tailBudget(c contest.Curve) float64 {
	if c.Name == contest.DecidedLocally {
		return localBudget
	}
	return redisBudget
}

func latencyTable(c contest.Curve) Table {
	budget := tailBudget(c)
	out := Table{Head: []string{
		"share of capacity", "requests/s", "p50 ms", "p99 ms", "p99.9 ms", "later than 3 ms",
		fmt.Sprintf("p99 below %.0f ms", budget), "0.3 / 1.5 / 4 ms", "a timer's p99 and p99.9 ms", "server + Redis us",
		"decided", "by the store",
	}}
	for _, pt := range c.Points {
		of := func(f func(contest.Sample) float64) string { return spread(contest.Of(pt.Samples, f)) }
		med := func(f func(contest.Sample) float64) float64 { return median(contest.Of(pt.Samples, f)) }
		out.Rows = append(out.Rows, []string{
			fmt.Sprintf("%.0f%%", pt.Share*100), figure(pt.X), of(p50), of(p99), of(p999),
			percent(med(func(s contest.Sample) float64 { return s.Late })),
			yes(med(p99) < budget),
			strings.Join([]string{yes(med(p50) <= added[0]), yes(med(p99) <= added[1]), yes(med(p999) <= added[2])}, " / "),
			fmt.Sprintf("%s, %s", digits(med(func(s contest.Sample) float64 { return s.TimerP99 })),
				digits(med(func(s contest.Sample) float64 { return s.TimerP999 }))),
			of(contest.Sample.CPU),
			percent(med(func(s contest.Sample) float64 {
				return stat.Ratio(float64(s.OK+s.Denied), float64(s.OK+s.Denied+s.Failed))
			})),
			percent(med(func(s contest.Sample) float64 { return s.Sources["store"] })),
		})
	}
	return out
}

func yes(ok bool) string {
	if ok {
		return "yes"
	}
	return "no"
}

// engineTable lists the situations of engine.Check.
func engineTable(rows []measure.SpeedRow) Table {
	out := Table{Head: []string{"engine.Check", "CPU ns", "ns", "allocations"}}
	for _, r := range rows {
		out.Rows = append(out.Rows, []string{r.Name, spread(r.CPU), spread(r.Wall), digits(median(r.News))})
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

// deviations are how far each size is from the median size, round by round: in
// one round all sizes took their turn within the same half minute.
func deviations(c contest.Curve) []float64 {
	ratios := make([][]float64, len(c.Points))
	for round := range samplesOf(c) {
		var all []float64
		for _, pt := range c.Points {
			all = append(all, pt.Samples[round].CPU())
		}
		middle := median(all)
		for i, cpu := range all {
			ratios[i] = append(ratios[i], stat.Ratio(cpu, middle)-1)
		}
	}
	var out []float64
	for _, r := range ratios {
		out = append(out, median(r))
	}
	return out
}

// deviation is that of the size that is farthest away.
func deviation(c contest.Curve) (most float64) {
	for _, d := range deviations(c) {
		most = max(most, math.Abs(d))
	}
	return most
}

// samplesOf is how many samples every size has.
func samplesOf(c contest.Curve) int {
	if len(c.Points) == 0 {
		return 0
	}
	n := len(c.Points[0].Samples)
	for _, pt := range c.Points {
		n = min(n, len(pt.Samples))
	}
	return n
}

func signed(share float64) string { return fmt.Sprintf("%+.0f%%", share*100) }
