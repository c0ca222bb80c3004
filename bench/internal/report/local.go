package report

import (
	"fmt"
	"strings"

	"github.com/weirlimit/weir/bench/internal/measure"
	"github.com/weirlimit/weir/bench/internal/peer"
	"github.com/weirlimit/weir/bench/internal/stat"
)

// maxFloodCalls is how often a second Redis may be asked about a key that is
// used up: once, and again by those that were on the way.
const maxFloodCalls = 8

func (d *Document) local() string {
	var b strings.Builder
	b.WriteString("## One hot key, and what the local tier saves\n\n")
	fmt.Fprintf(&b, "Callers of one process ask for the same key, wait for the answer and ask again; Redis is emptied before\n"+
		"each round. *%s* is the row of the tables above; the others are a whole engine, as a program gets\n"+
		"from `embedded`: policies, deadline, gate, backstop. Of the hot key nothing is denied: its limit is 10M/s.\n"+
		"With leases (`lease: auto`, defaults) the process takes units of it ahead. Of the exhausted key, 1/h,\n"+
		"everything is. *Redis calls/s* are the scripts that the server counted.\n", peer.StoreAlone)
	for _, t := range d.Local {
		fmt.Fprintf(&b, "\n### Local tier, %s\n\n%s", t.Scenario.Name, localTable(t).Markdown())
	}
	return b.String()
}

// localTable is loadTable with what Redis was asked, and without other
// libraries.
func localTable(t measure.LoadTable) Table {
	out := Table{Head: []string{
		"Weir", "decisions/s", "p50 ms", "p99 ms", "client us", "Redis us", "client + Redis us", "Redis calls/s", "failed",
	}}
	for _, r := range t.Rows {
		out.Rows = append(out.Rows, []string{
			r.Name, spread(r.Rate), small(median(r.P50)), small(median(r.P99)),
			digits(median(r.Client)), small(median(r.Server)), spread(r.Both), spread(r.Calls), percent(median(r.Failed)),
		})
	}
	return out
}

// small writes figures that may be far below 1, or, with what is used when idle
// taken off, below 0.
func small(v float64) string {
	if v < 0.1 {
		return fmt.Sprintf("%.4f", max(v, 0))
	}
	return digits(v)
}

// localBars: leases make a hot key faster, and what is denied asks Redis next to
// nothing.
func localBars(tables []measure.LoadTable) []Bar {
	var bars []Bar
	for _, t := range tables {
		without, ok := row(t, peer.EngineAlone)
		if !ok {
			continue
		}
		if leased, ok := row(t, peer.Leases); ok {
			a, b := median(leased.Rate), median(without.Rate)
			bars = append(bars, Bar{
				Promise:  fmt.Sprintf("local tier, %s: more decisions/s with leases than without", t.Scenario.Name),
				Measured: fmt.Sprintf("%s/s, without %s/s (%sx)", figure(a), figure(b), digits(stat.Ratio(a, b))),
				Met:      a > b,
			})
		}
		if cached, ok := row(t, peer.DenyCache); ok && t.Scenario.Denied {
			calls := median(cached.Calls)
			bars = append(bars, Bar{
				Promise: fmt.Sprintf("local tier, %s: at most %d Redis calls a second", t.Scenario.Name, maxFloodCalls),
				Measured: fmt.Sprintf("%s for %s decisions/s, without %s for %s", digits(calls), figure(median(cached.Rate)),
					figure(median(without.Calls)), figure(median(without.Rate))),
				Met: calls <= maxFloodCalls,
			})
		}
	}
	return bars
}
