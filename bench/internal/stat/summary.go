package stat

import (
	"math"
	"slices"
)

// Summary is what several rounds of one measurement come to. The zero value is
// of no rounds.
type Summary struct {
	Median, Min, Max float64
	Rounds           int
}

// Summarize returns the summary of rounds, which it leaves as they are. The
// median of an even number of rounds is the mean of the middle two.
func Summarize(rounds []float64) Summary {
	n := len(rounds)
	if n == 0 {
		return Summary{}
	}
	s := slices.Sorted(slices.Values(rounds))
	return Summary{
		Median: (s[(n-1)/2] + s[n/2]) / 2,
		Min:    s[0],
		Max:    s[n-1],
		Rounds: n,
	}
}

// Ratio returns a/b, and 0 when there is nothing to compare with.
func Ratio(a, b float64) float64 {
	if b == 0 || math.IsNaN(a) || math.IsNaN(b) {
		return 0
	}
	return a / b
}
