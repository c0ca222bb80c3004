package httplimit

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Paths is a rule for WithSkip: requests for one of these paths. One that ends
// in * stands for all that begin like it.
func Paths(paths ...string) func(*http.Request) bool {
	paths = slices.Clone(paths)
	return func(r *http.Request) bool {
		if r.URL == nil {
			return false
		}
		for _, p := range paths {
			if prefix, ok := strings.CutSuffix(p, "*"); ok && strings.HasPrefix(r.URL.Path, prefix) || r.URL.Path == p {
				return true
			}
		}
		return false
	}
}

// Methods is a rule for WithSkip: requests with one of these methods, such as
// OPTIONS.
func Methods(methods ...string) func(*http.Request) bool {
	methods = slices.Clone(methods)
	return func(r *http.Request) bool { return slices.Contains(methods, r.Method) }
}

// ServerErrors is a rule for WithRefund: what failed on this side, 5xx.
func ServerErrors(status int) bool { return status >= 500 }

// BytesCost is a cost for WithCostAfter: one unit for every unit bytes of the
// response's body, and for what is left over. A unit of less than 1 is 1.
func BytesCost(unit int64) func(*http.Request, int, int64, http.Header) int64 {
	unit = max(1, unit)
	return func(_ *http.Request, _ int, bytes int64, _ http.Header) int64 {
		if bytes <= 0 {
			return 0
		}
		return (bytes-1)/unit + 1
	}
}

// HeaderCost is a cost for WithCostAfter: the number that the handler put into
// a header field of its response. What is no number, or negative, is 0.
func HeaderCost(field string) func(*http.Request, int, int64, http.Header) int64 {
	return func(_ *http.Request, _ int, _ int64, h http.Header) int64 {
		n, err := strconv.ParseInt(strings.TrimSpace(h.Get(field)), 10, 64)
		if err != nil {
			return 0
		}
		return max(0, n)
	}
}
