//go:build !race

package chaos

import (
	"testing"
	"time"

	"github.com/weirlimit/weir/internal/latency"
)

// The lines of the report.
const (
	faultWhale  = "whale game day: one tenant doubles its rate"
	boundsWhale = "lease sizes within 10% (short form 25%) of rate x refresh 5 s after the rate is steady; every other tenant gets 99% of what its " +
		"limit and demand allow, p99 within 2x; the whale gets at most burst + rate x T + nodes x L in every interval; store calls a decision fall"
)

// whale is the game day. In the end the whale asks for twice its limit: without
// that there would be nothing to hold it to.
func whale(t testing.TB, f form) *outcome {
	d := newWhaleDay(t, f)
	w := d.form
	d.more(w.base)
	time.Sleep(w.before / 2)
	quiet := d.mark("whale at its usual rate")
	time.Sleep(w.before / 2)
	ramp, atRamp := d.mark("ramp"), time.Since(d.began)
	for range whaleSteps {
		d.more(w.base / whaleSteps)
		time.Sleep(w.ramp / whaleSteps)
	}
	atHold := time.Since(d.began) - w.ramp/whaleSteps // the last step is steady already
	d.mark("twice its rate")
	time.Sleep(w.settled)
	settled := d.mark("settled")
	time.Sleep(w.hold - w.settled)
	held, atOver := d.mark("over its limit"), time.Since(d.began)
	askedByThen, _ := d.whale.count()
	d.more(w.most() - 2*w.base)
	time.Sleep(w.over)
	atEnd, last := time.Since(d.began), d.mark("over")
	d.end()

	j := d.judge()
	d.converge(j, atRamp, atHold, atOver)
	d.spare(j, callsPerDecision(quiet, ramp), callsPerDecision(settled, held), callsPerDecision(held, last))
	d.fair(j, atEnd)
	d.undisturbed(j, atRamp, atEnd)
	d.bounded(j)
	d.used(j, askedByThen, atEnd-atOver)
	j.out.after = "How many units of the whale's limit the nodes take at a time; the aim is what each is asked for in " +
		whaleRefresh.String() + ".\n\n" + sizesTable(d.mu.sizes, func(at time.Duration) string {
		switch {
		case at < atRamp:
			return "before"
		case at < atHold:
			return "ramp"
		case at < atOver:
			return "hold"
		}
		return "over its limit"
	})
	return j.out
}

// judge ends all loads, and holds of each what every row must.
func (d *whaleDay) judge() *judged {
	d.t.Helper()
	var all *judged
	for i, r := range d.nodes {
		j := r.end("whale")
		j.unfelt(r.mu.samples[0], j.last)
		if i == 0 {
			all = j
			continue
		}
		o := all.out
		o.due, o.degraded, o.attained = o.due+j.out.due, o.degraded+j.out.degraded, min(o.attained, j.out.attained)
		o.p50, o.p99 = max(o.p50, j.out.p50), max(o.p99, j.out.p99)
	}
	for _, res := range d.mu.results {
		all.out.due += res.Total.Due
		all.out.errors += res.Total.Errors
		all.out.attained = min(all.out.attained, res.Attained())
	}
	if all.out.errors > 0 || all.out.attained < attained {
		d.t.Errorf("%d client errors; attained %s of the load at worst", all.out.errors, shareText(all.out.attained))
	}
	return all
}

// converge holds that sizes follow the rate.
func (d *whaleDay) converge(j *judged, ramp, hold, over time.Duration) {
	d.t.Helper()
	took, ok := converged(d.mu.sizes, hold, over, d.form.band)
	j.note("lease sizes within %.0f%% of their aim from %v after the rate was steady", 100*d.form.band, took.Round(10*time.Millisecond))
	if !ok || took > d.form.settled {
		d.t.Errorf("sizes are not what the rate asks for %v after it is steady (%v):\n%s", d.form.settled, took,
			sizesTable(d.mu.sizes, func(at time.Duration) string { return "" }))
	}
	first := sizes{}
	for _, s := range d.mu.sizes {
		if s.at < ramp {
			first = s
		}
	}
	j.note("it began with leases of %v, where %.0f was the aim", first.nodes, first.aim())
	if first.rate != d.form.base || !first.near(0.25) {
		d.t.Errorf("the whale did not begin with leases of its rate: %+v", first)
	}
}

// spare holds that the store is asked less often a decision when more is asked
// for.
func (d *whaleDay) spare(j *judged, before, twice, over float64) {
	d.t.Helper()
	j.note("store calls a decision %.3f before, %.3f at twice the rate, %.3f over the limit", before, twice, over)
	if !(twice > 0 && twice < before) {
		d.t.Errorf("%.3f store calls a decision before, %.3f at twice the rate", before, twice)
	}
}

// callsPerDecision is of all nodes and tenants together.
func callsPerDecision(from, to [whaleNodes]sample) float64 {
	calls, decisions := 0.0, 0.0
	for i := range from {
		s := to[i].less(from[i])
		calls, decisions = calls+s.storeCalls, decisions+total(s.sources)
	}
	return calls / max(decisions, 1)
}

// fair holds that each neighbour has what its own limit and demand allow.
func (d *whaleDay) fair(j *judged, span time.Duration) {
	d.t.Helper()
	worst := 1.0
	for i := range d.neighbours {
		asked, given := d.neighbours[i].count()
		due := float64(asked)
		if neighbourKind(uint64(i)) == "greedy" {
			due = min(due, greedyLimit+greedyLimit*span.Seconds())
		}
		share := float64(given) / due
		worst = min(worst, share)
		if asked == 0 || share < whaleFair {
			d.t.Errorf("neighbour %d was given %d of %.0f", i, given, due)
		}
	}
	j.note("each neighbour got at least %s of what is its own", shareText(worst))
}

// undisturbed holds that neighbours wait no longer than before, in the usual
// half second: what the machine does to everybody for a moment is in few of them,
// what a whale does is in all.
func (d *whaleDay) undisturbed(j *judged, ramp, end time.Duration) {
	d.t.Helper()
	windows := make([]latency.Histogram, end/whaleWindow)
	for _, r := range d.nodes {
		for i := range r.result.Steps {
			at := r.result.Began.Add(time.Duration(i) * r.result.Load.Step).Sub(d.began)
			if n := int(at / whaleWindow); n < len(windows) {
				windows[n].Merge(&r.result.Steps[i].Latency)
			}
		}
	}
	first := int(ramp / whaleWindow)
	was, is := usualP99(windows[:first]), usualP99(windows[first:])
	j.note("their p99 in the usual %v: %v before, %v since", whaleWindow, was.Round(10*time.Microsecond), is.Round(10*time.Microsecond))
	// Below a millisecond it is the generator's own timers that are compared.
	if bound := max(2*was, j.form.slack); was == 0 || is > bound {
		d.t.Errorf("neighbours' p99 is %v beside a whale, %v before, want at most %v", is, was, bound)
	}
}

// bounded holds that the whale was given no more than its limit and what is
// published, in every stretch of time, and that the limit was in its way.
func (d *whaleDay) bounded(j *judged) {
	d.t.Helper()
	bound := 0.0
	for _, r := range d.nodes {
		for _, s := range r.mu.samples {
			bound = max(bound, s.leaseBound)
		}
	}
	limit := float64(d.form.limit())
	most, from, to := d.whale.beyond(limit)
	asked, given := d.whale.count()
	j.out.extra = (most - limit) / limit
	j.note("the whale got %d of %d; at most %.0f beyond its rate in any stretch, of %.0f burst and %.0f published", given, asked, most, limit, bound)
	if bound == 0 || bound > whaleShare*limit || most > limit+bound {
		d.t.Errorf("the whale was given %.0f beyond its rate between %v and %v, want at most %.0f and %.0f, which is at most %.0f",
			most, from, to, limit, bound, whaleShare*limit)
	}
	if asked == given || most < limit/2 {
		d.t.Errorf("the limit was not in the whale's way: %d of %d given, at most %.0f beyond its rate", given, asked, most)
	}
}

// used holds that the whale has all that its limit allows, also while it asks for
// more: leases must not lose what they take.
func (d *whaleDay) used(j *judged, askedByThen int, over time.Duration) {
	d.t.Helper()
	limit := float64(d.form.limit())
	asked, given := d.whale.count()
	due := float64(askedByThen) + min(float64(asked-askedByThen), limit+limit*over.Seconds())
	j.note("%s of what it may have", shareText(min(1, float64(given)/due)))
	if float64(given) < whaleFair*due {
		d.t.Errorf("the whale was given %d of %.0f", given, due)
	}
}
