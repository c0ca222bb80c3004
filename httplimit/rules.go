package httplimit

import (
	"net/http"
	"slices"

	"github.com/weirlimit/weir/internal/admission"
)

// Paths is a rule for WithSkip: requests for one of these paths. One that ends
// in * stands for all that begin like it. A path that not everybody reads alike
// is none of them, however it is spelled: one with empty segments or those of
// dots, such as /static/../login, with a backslash, or with an escaped slash.
func Paths(paths ...string) func(*http.Request) bool {
	paths = slices.Clone(paths)
	return func(r *http.Request) bool {
		return r.URL != nil && admission.Matches(paths, r.URL.Path) && admission.Plain(r.URL.RawPath)
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
	return func(_ *http.Request, _ int, bytes int64, _ http.Header) int64 {
		return admission.Units(bytes, unit)
	}
}

// HeaderCost is a cost for WithCostAfter: the number that the handler put into
// a header field of its response. What is no number, or negative, is 0.
func HeaderCost(field string) func(*http.Request, int, int64, http.Header) int64 {
	return func(_ *http.Request, _ int, _ int64, h http.Header) int64 {
		return admission.Number(h.Get(field))
	}
}
