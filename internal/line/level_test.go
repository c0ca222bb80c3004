package line_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/line"
)

const ms = weir.Millisecond

func newLevel() *line.Level {
	return &line.Level{Target: 20 * ms, Interval: 100 * ms, Recovery: 1000 * ms}
}

func TestLevel(t *testing.T) {
	type step struct {
		at, delay weir.Micros
		want      int
	}
	for name, steps := range map[string][]step{
		"a burst that drains is no overload": {
			{0, 50 * ms, 0}, {99 * ms, 90 * ms, 0}, {100 * ms, 0, 0}, {110 * ms, 90 * ms, 0}, {209 * ms, 90 * ms, 0},
		},
		"a standing line goes up a step an interval, and not beyond the last": {
			{0, 21 * ms, 0},
			{99 * ms, 40 * ms, 0},
			{100 * ms, 40 * ms, 1},
			{150 * ms, 40 * ms, 1},
			{200 * ms, 40 * ms, 2},
			{350 * ms, 40 * ms, 3},
			{500 * ms, 900 * ms, 3},
			{9000 * ms, 900 * ms, 3},
		},
		"the target itself is fine": {{0, 20 * ms, 0}, {500 * ms, 20 * ms, 0}},
		"down a step a recovery": {
			{0, 50 * ms, 0},
			{100 * ms, 50 * ms, 1},
			{200 * ms, 50 * ms, 2},
			{300 * ms, 10 * ms, 2},
			{1299 * ms, 0, 2},
			{1300 * ms, 0, 1},
			{2299 * ms, 0, 1},
			{2300 * ms, 0, 0},
		},
		"idle for long is recovered": {
			{0, 50 * ms, 0}, {100 * ms, 50 * ms, 1}, {200 * ms, 50 * ms, 2}, {300 * ms, 0, 2}, {9000 * ms, 0, 0},
		},
		"in between it stays": {
			{0, 50 * ms, 0},
			{100 * ms, 50 * ms, 1},
			{200 * ms, 15 * ms, 1},
			{5000 * ms, 15 * ms, 1},
			{5100 * ms, 0, 1},
			{6000 * ms, 15 * ms, 1},
			{6100 * ms, 0, 1},
			{7099 * ms, 0, 1},
			{7100 * ms, 0, 0},
		},
		"a relapse begins anew from where it is": {
			{0, 50 * ms, 0}, {100 * ms, 50 * ms, 1}, {200 * ms, 0, 1}, {900 * ms, 50 * ms, 1}, {1000 * ms, 50 * ms, 2},
		},
	} {
		l := newLevel()
		for _, s := range steps {
			if got := l.Observe(s.at, s.delay); got != s.want || l.Level() != got {
				t.Errorf("%s: at %v, after %v: level %d, want %d", name, s.at, s.delay, got, s.want)
			}
		}
	}
}

// TestLevelDoesNotFlap: it goes up at most once an interval and down at most once
// a recovery, by one each, whatever is observed.
func TestLevelDoesNotFlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLevel()
		now, last, up, down := weir.Micros(0), 0, weir.Micros(-1000*ms), weir.Micros(-1000*ms)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += weir.Micros(rapid.Int64Range(0, int64(90*ms)).Draw(t, "after")) // less than either
			got := l.Observe(now, weir.Micros(rapid.SampledFrom([]int64{0, 10, 11, 20, 21, 500}).Draw(t, "delay"))*ms)
			switch {
			case got == last:
			case got == last+1 && now-up >= l.Interval:
				up = now
			case got == last-1 && now-max(up, down) >= l.Recovery-90*ms:
				down = now
			default:
				t.Fatalf("from %d to %d at %v, last up at %v, down at %v", last, got, now, up, down)
			}
			if got < 0 || got > line.MaxLevel {
				t.Fatalf("level %d", got)
			}
			last = got
		}
	})
}
