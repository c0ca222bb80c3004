package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirlimit/weir/internal/latency"
)

// sizes are how many units of the whale's limit each node takes at a time, at an
// instant of the game day.
type sizes struct {
	at    time.Duration
	rate  int // of the whale's requests a second, at all nodes together
	nodes [whaleNodes]int64
}

// aim is what the sizes converge to: what a node is asked for in a refresh
// interval.
func (s sizes) aim() float64 { return float64(s.rate) / whaleNodes * whaleRefresh.Seconds() }

// near tells whether all nodes are within a part of the aim, or a unit.
func (s sizes) near(band float64) bool {
	for _, n := range s.nodes {
		off := float64(n) - s.aim()
		if max(off, -off) > max(1, band*s.aim()) {
			return false
		}
	}
	return true
}

// converged is how long after an instant the sizes were near for good, or at
// least until another; false when they were not.
func converged(all []sizes, from, to time.Duration, band float64) (time.Duration, bool) {
	since, ok := from, false
	for _, s := range all {
		switch {
		case s.at < from || s.at > to:
		case !s.near(band):
			since, ok = s.at, false
		default:
			ok = true
		}
	}
	return since - from, ok
}

// sizesTable is a part of them, evenly over time, with the phase each is of.
func sizesTable(all []sizes, phase func(time.Duration) string) string {
	const rows = 24
	var b strings.Builder
	b.WriteString("| at | | whale asks/s | aim | L at node 1 | 2 | 3 |\n|--:|---|--:|--:|--:|--:|--:|\n")
	step := max(1, (len(all)+rows-1)/rows)
	for i := 0; i < len(all); i += step {
		s := all[i]
		fmt.Fprintf(&b, "| %.1f s | %s | %d | %.0f |", s.at.Seconds(), phase(s.at), s.rate, s.aim())
		for _, n := range s.nodes {
			fmt.Fprintf(&b, " %d |", n)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// usualP99 is the median of the windows' 99th percentiles; 0 of none.
func usualP99(windows []latency.Histogram) time.Duration {
	var all []time.Duration
	for i := range windows {
		if windows[i].Count() > 0 {
			all = append(all, windows[i].Quantile(0.99))
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
