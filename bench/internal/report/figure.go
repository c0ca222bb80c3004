package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/weirlimit/weir/bench/internal/stat"
)

// figure writes v with three digits that count, and k or M for thousands and
// millions.
func figure(v float64) string {
	switch a := math.Abs(v); {
	case a >= 999.5e3:
		return digits(v/1e6) + "M"
	case a >= 9.9995e3:
		return digits(v/1e3) + "k"
	default:
		return digits(v)
	}
}

func digits(v float64) string {
	switch a := math.Abs(v); {
	case a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

// spread writes a median and, in parentheses, the least and the most.
func spread(rounds []float64) string {
	s := stat.Summarize(rounds)
	return fmt.Sprintf("%s (%s-%s)", figure(s.Median), figure(s.Min), figure(s.Max))
}

// times writes how many times base the median of rounds is.
func times(rounds []float64, base float64) string {
	if base == 0 {
		return "-"
	}
	return digits(stat.Ratio(median(rounds), base)) + "x"
}

func median(rounds []float64) float64 { return stat.Summarize(rounds).Median }

// count writes a whole number as it is said: 10k, 1M.
func count(n int) string {
	switch {
	case n >= 1e6 && n%1e6 == 0:
		return strconv.Itoa(n/1e6) + "M"
	case n >= 1e3 && n%1e3 == 0:
		return strconv.Itoa(n/1e3) + "k"
	}
	return strconv.Itoa(n)
}

// cores writes a number of cores.
func cores(n int) string {
	if n == 1 {
		return "1 core"
	}
	return strconv.Itoa(n) + " cores"
}
