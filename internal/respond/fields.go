package respond

import "strconv"

// The fields, in the order in which they are sent.
const (
	policyField = iota
	limitField
	legacyLimitField
	legacyRemainingField
	legacyResetField
	legacyPolicyField
	legacyScopeField
	retryField

	fieldCount
)

// fieldNames are the names as their specifications write them, and the keys
// under which net/http and gRPC keep them.
var fieldNames = [fieldCount]struct{ written, key, lower string }{
	policyField:          {"RateLimit-Policy", "Ratelimit-Policy", "ratelimit-policy"},
	limitField:           {"RateLimit", "Ratelimit", "ratelimit"},
	legacyLimitField:     {"X-RateLimit-Limit", "X-Ratelimit-Limit", "x-ratelimit-limit"},
	legacyRemainingField: {"X-RateLimit-Remaining", "X-Ratelimit-Remaining", "x-ratelimit-remaining"},
	legacyResetField:     {"X-RateLimit-Reset", "X-Ratelimit-Reset", "x-ratelimit-reset"},
	legacyPolicyField:    {"X-RateLimit-Policy", "X-Ratelimit-Policy", "x-ratelimit-policy"},
	legacyScopeField:     {"X-RateLimit-Scope", "X-Ratelimit-Scope", "x-ratelimit-scope"},
	retryField:           {"Retry-After", "Retry-After", "retry-after"},
}

// Fields are the header fields of an answer. The zero value has none; reuse one
// to spare its memory.
type Fields struct {
	values []byte
	which  [fieldCount]uint8
	ends   [fieldCount]int
	n      int
}

// Fill makes f the fields of a, in place of what it held.
func (f *Fields) Fill(a *Answer) {
	f.values, f.n = f.values[:0], 0
	f.end(policyField, a.AppendPolicies(f.values))
	if a.binds() {
		d := a.Decision
		f.end(limitField, a.AppendRateLimit(f.values))
		f.end(legacyLimitField, strconv.AppendInt(f.values, d.Limit.Capacity(), 10))
		f.end(legacyRemainingField, strconv.AppendInt(f.values, max(0, d.Remaining), 10))
		f.end(legacyResetField, strconv.AppendInt(f.values, a.resetAt(), 10))
		f.end(legacyPolicyField, a.AppendName(f.values))
		f.end(legacyScopeField, appendText(f.values, a.Scope, false))
	}
	if a.Retry > 0 {
		f.end(retryField, strconv.AppendInt(f.values, a.Retry, 10))
	}
}

// end takes values, grown by the value of a field. A value that is empty is no
// field.
func (f *Fields) end(field uint8, values []byte) {
	if len(values) == len(f.values) {
		return
	}
	f.values = values
	f.which[f.n], f.ends[f.n] = field, len(values)
	f.n++
}

// Len returns how many fields there are.
func (f *Fields) Len() int { return f.n }

// Field returns a field, from 0 to Len-1. The value is a view that the next
// Fill changes.
func (f *Fields) Field(i int) (name string, value []byte) {
	return fieldNames[f.which[i]].written, f.values[f.start(i):f.ends[i]]
}

func (f *Fields) start(i int) int {
	if i == 0 {
		return 0
	}
	return f.ends[i-1]
}

// Set puts the fields into h, which is an http.Header, in place of fields of
// the same names. It allocates twice, whatever their number, and h may grow.
func (f *Fields) Set(h map[string][]string) { f.set(h, Both) }

func (f *Fields) set(h map[string][]string, only Family) {
	list := f.list()
	for i := range f.n {
		if !only.has(f.which[i]) {
			continue
		}
		h[fieldNames[f.which[i]].key] = list[i : i+1 : i+1]
	}
}

// SetLower is Set for a gRPC metadata.MD, whose keys are in lower case.
func (f *Fields) SetLower(md map[string][]string) {
	list := f.list()
	for i := range f.n {
		md[fieldNames[f.which[i]].lower] = list[i : i+1 : i+1]
	}
}

// list is the values, in two pieces of memory.
func (f *Fields) list() []string {
	all, list := string(f.values), make([]string, f.n)
	for i := range f.n {
		list[i] = all[f.start(i):f.ends[i]]
	}
	return list
}
