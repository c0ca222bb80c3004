package chaos

import (
	"time"

	"github.com/weirlimit/weir/internal/loadgen"
)

// backAfter is how long after an instant the store answers again: from the first
// step of the run after which no window of half a second had more than its share
// of degraded answers. The whole of the run if it never does.
func backAfter(r *loadgen.Result, from time.Time) time.Duration {
	const window = 5 // steps
	first := max(int(from.Sub(r.Began)/r.Load.Step), 0)
	back := first
	for i := first; i < len(r.Steps); i++ {
		var answered, degraded uint64
		for j := i; j < min(i+window, len(r.Steps)); j++ {
			answered += r.Steps[j].Answered
			degraded += r.Steps[j].Degraded
		}
		if float64(degraded) > (1-backed)*float64(answered) {
			back = i + 1
		}
	}
	if back >= len(r.Steps)-1 && back > first {
		return time.Hour // not once
	}
	return max(r.Began.Add(time.Duration(back)*r.Load.Step).Sub(from), 0)
}
