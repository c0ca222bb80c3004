package chaos

import (
	"time"

	"github.com/weirlimit/weir/internal/loadgen"
)

// backAfter is how long after an instant the store answers again: from the first
// step of the run after which no window of a second had more than its share of
// degraded answers. An hour if there is none.
func backAfter(r *loadgen.Result, from time.Time) time.Duration {
	window := max(int(time.Second/r.Load.Step), 1) // steps
	first := max(int(from.Sub(r.Began)/r.Load.Step), 0)
	back := first
	last := len(r.Steps) - window // the last that is whole
	for i := first; i <= last; i++ {
		var answered, degraded uint64
		for _, s := range r.Steps[i : i+window] {
			answered += s.Answered
			degraded += s.Degraded
		}
		if float64(degraded) > (1-backed)*float64(answered) {
			back = i + 1
		}
	}
	if back > last {
		return time.Hour
	}
	return max(r.Began.Add(time.Duration(back)*r.Load.Step).Sub(from), 0)
}

// published is how many bursts more than its limit docs/degraded-modes.md lets a
// key of a lone server have: one for one outage, and one and rate x T in all
// where the server was away more than once, or answered some calls only, for T in
// all. A clean outage is one run of steps without an answer of the server, with a
// step at each end that has some.
func published(r *loadgen.Result) float64 {
	runs, away, partly, before := 0, 0, 0, false
	for _, s := range r.Steps {
		if s.Degraded == 0 {
			before = false
			continue
		}
		away++
		if !before {
			runs++
		}
		if before = true; s.Degraded < s.Answered {
			partly++
		}
	}
	if runs <= 1 && partly <= 2 {
		return 1
	}
	return 1 + tightRate*(time.Duration(away)*r.Load.Step).Seconds()/tightBurst
}
