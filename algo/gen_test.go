package algo_test

import (
	"testing"

	"github.com/weirlimit/weir"
	"pgregory.net/rapid"
)

// epoch is an instant at which a day, and so every window that divides one,
// begins: 2023-11-14T00:00:00Z.
const epoch = 1_699_920_000 * weir.Second

// Counts and windows that are awkward somewhere: primes, powers, the bounds.
var (
	counts = []int64{
		1, 2, 3, 15, 16, 17, 31, 32, 33, 97, 100, 1000, 1024, 30_011, 65_537,
		700_001, 999_983, 1_000_000, 1_000_003, 9_999_991, 9_999_999, weir.MaxCount,
	}
	windows = []weir.Micros{
		weir.Second, 2 * weir.Second, 7 * weir.Second, 30 * weir.Second, weir.Minute,
		weir.Hour, weir.Day, weir.Week, weir.Month, 31_535_999 * weir.Second, weir.Year,
	}
	everyAlgorithm = []weir.Algorithm{
		weir.GCRA, weir.TokenBucket, weir.SlidingWindow, weir.FixedWindow,
		weir.LeakyBucket, weir.SlidingLog, weir.Concurrency,
	}
)

func meter(t testing.TB, l weir.Limit) *weir.Meter {
	t.Helper()
	m, err := weir.NewMeter(l)
	if err != nil {
		t.Fatalf("%v: %v", l, err)
	}
	return m
}

func parse(t testing.TB, text string) *weir.Meter {
	t.Helper()
	l, err := weir.ParseLimit(text)
	if err != nil {
		t.Fatal(err)
	}
	return meter(t, l)
}

// either draws from listed values or from the whole range.
func either[T int64 | weir.Micros](listed []T, from, to T) *rapid.Generator[T] {
	var within []T
	for _, v := range listed {
		if from <= v && v <= to {
			within = append(within, v)
		}
	}
	all := rapid.Map(rapid.Int64Range(int64(from), int64(to)), func(v int64) T { return T(v) })
	if len(within) == 0 {
		return all
	}
	return rapid.OneOf(rapid.SampledFrom(within), all)
}

// drawLimit draws from all that weir's bounds allow.
func drawLimit(t *rapid.T, among ...weir.Algorithm) weir.Limit {
	l := weir.Limit{Algorithm: rapid.SampledFrom(among).Draw(t, "algorithm")}
	most := weir.MaxCount
	if l.Algorithm == weir.SlidingLog || l.Algorithm == weir.Concurrency {
		most = weir.MaxLogCount
	}
	l.Count = either(counts, 1, most).Draw(t, "count")
	seconds := rapid.Map(rapid.Int64Range(1, int64(weir.MaxWindow/weir.Second)),
		func(n int64) weir.Micros { return weir.Micros(n) * weir.Second })
	l.Window = rapid.OneOf(rapid.SampledFrom(windows), seconds).Draw(t, "window")
	if isBucket(l.Algorithm) {
		l.Burst = drawBurst(t, l)
	}
	if err := l.Validate(); err != nil {
		t.Fatalf("drew an invalid limit %v: %v", l, err)
	}
	return l
}

// drawBurst draws a burst that drains within two years.
func drawBurst(t *rapid.T, l weir.Limit) int64 {
	perUnit := float64(l.Window) / float64(l.Count)
	most := min(weir.MaxCount, int64(float64(weir.MaxHorizon)/perUnit*(1-1e-9)))
	return rapid.OneOf(rapid.Just[int64](0), either(counts, 1, most)).Draw(t, "burst")
}

func isBucket(a weir.Algorithm) bool {
	return a == weir.GCRA || a == weir.TokenBucket || a == weir.LeakyBucket
}

// drawStep draws how far to move the clock: nowhere, by a microsecond, to the
// edges of an interval, of a window or of what the last answer promised, and
// some of these backwards.
func drawStep(t *rapid.T, l weir.Limit, now weir.Micros, last weir.Outcome, back bool) weir.Micros {
	unit := l.Window / weir.Micros(l.Count)
	edge := l.Window - now%l.Window
	retry := last.RetryAfter
	if retry == weir.Never {
		retry = 0
	}
	far := rapid.Int64Range(0, 2*int64(l.Window)).Draw(t, "far")
	some := rapid.Int64Range(0, 64).Draw(t, "some")
	steps := []weir.Micros{
		0, 1, unit - 1, unit, unit + 1, unit * weir.Micros(some), l.Window - 1, l.Window, l.Window + 1,
		edge - 1, edge, edge + 1, retry - 1, retry, retry + 1,
		last.ResetAfter - 1, last.ResetAfter, last.ResetAfter + 1, weir.Micros(far),
	}
	step := max(0, rapid.SampledFrom(steps).Draw(t, "step"))
	if back && rapid.IntRange(0, 5).Draw(t, "back") == 0 {
		step = -min(step, now-epoch+2*l.Window)
	}
	return step
}

// drawCost draws costs around what is left and what fits at all.
func drawCost(t *rapid.T, capacity, remaining int64) int64 {
	costs := []int64{
		0, 1, 1, 2, remaining - 1, remaining, remaining + 1, capacity - 1, capacity, capacity + 1,
		rapid.Int64Range(0, capacity).Draw(t, "any"),
	}
	return max(0, rapid.SampledFrom(costs).Draw(t, "cost"))
}
