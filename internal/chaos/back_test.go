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
