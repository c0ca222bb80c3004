package redisstore

import (
	"testing"
	"time"
)

// A server nearby is asked seldom, also one with slow scripts; one far away often,
// whether it is far from the start on or not, and one slow answer changes nothing.
func TestPace(t *testing.T) {
	const ms = time.Millisecond
	fly := func(p *pace, n int, took, script time.Duration) int {
		for range n {
			p.observe(took, script)
		}
		return p.at()
	}
	var p pace
	for _, c := range []struct {
		name         string
		n            int
		took, script time.Duration
		want         int
	}{
		{"at first", 0, 0, 0, pipelineNear},
		{"nearby", 100, ms / 5, ms / 10, pipelineNear},
		{"slow scripts", 100, 5 * ms, 5*ms - ms/5, pipelineNear},
		{"one slow answer", 1, 2 * ms, ms / 10, pipelineNear},
		{"not told", 100, 5 * ms, 0, pipelineNear},
		{"far", 20, ms, ms / 10, pipelineAt},
		{"one fast answer", 1, ms / 10, ms / 20, pipelineAt},
		{"nearby again", 40, ms / 5, ms / 10, pipelineNear},
	} {
		if got := fly(&p, c.n, c.took, c.script); got != c.want {
			t.Errorf("%s: a second flight at %d, want %d (%v away)", c.name, got, c.want, p.away)
		}
	}
}
