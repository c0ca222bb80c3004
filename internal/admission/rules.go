package admission

import (
	"strconv"
	"strings"
)

// Matches tells whether text is one of the patterns. One that ends in * stands
// for all that begin like it. A text that is not Plain is none of them.
func Matches(patterns []string, text string) bool {
	for _, p := range patterns {
		if prefix, ok := strings.CutSuffix(p, "*"); ok && strings.HasPrefix(text, prefix) || text == p {
			return Plain(text)
		}
	}
	return false
}

// Units returns how many units of so many bytes there are, counting what is left
// over as one. A unit of less than 1 is 1.
func Units(bytes, unit int64) int64 {
	if bytes <= 0 {
		return 0
	}
	return (bytes-1)/max(1, unit) + 1
}

// Number reads a cost. What is no number, or negative, is 0.
func Number(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0
	}
	return max(0, n)
}
