package stat

import (
	"math"
	"slices"
	"testing"
)

func TestSummarize(t *testing.T) {
	for _, c := range []struct {
		rounds []float64
		want   Summary
	}{
		{nil, Summary{}},
		{[]float64{7}, Summary{7, 7, 7, 1}},
		{[]float64{9, 1}, Summary{5, 1, 9, 2}},
		{[]float64{3, 100, 1}, Summary{3, 1, 100, 3}},
		{[]float64{4, 1, 3, 2}, Summary{2.5, 1, 4, 4}},
		{[]float64{5, 5, 1, 9, 5}, Summary{5, 1, 9, 5}},
	} {
		before := slices.Clone(c.rounds)
		if got := Summarize(c.rounds); got != c.want {
			t.Errorf("Summarize(%v) = %+v, want %+v", c.rounds, got, c.want)
		}
		if !slices.Equal(before, c.rounds) {
			t.Errorf("Summarize(%v) reordered its argument to %v", before, c.rounds)
		}
	}
}

func TestRatio(t *testing.T) {
	for _, c := range []struct{ a, b, want float64 }{
		{6, 3, 2},
		{1, 4, 0.25},
		{5, 0, 0},
		{math.NaN(), 2, 0},
		{2, math.NaN(), 0},
	} {
		if got := Ratio(c.a, c.b); got != c.want {
			t.Errorf("Ratio(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
