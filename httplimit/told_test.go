package httplimit

import (
	"net/http"
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func header(fields ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(fields); i += 2 {
		h.Add(fields[i], fields[i+1])
	}
	return h
}

func TestLimitsOf(t *testing.T) {
	for _, tc := range []struct {
		name string
		h    http.Header
		want []told
	}{
		{"none", header(), nil},
		{"draft", header("RateLimit", `"a";r=5;t=30`), []told{{"a", 0, 5, 30 * time.Second}}},
		{"with its policy", header("RateLimit", `"a";r=5;t=30`, "RateLimit-Policy", `"b";q=1;w=1, "a";q=100;w=60`), []told{{"a", 100, 5, 30 * time.Second}}},
		{"of bytes", header("RateLimit", `"a";r=5;t=30, "b";r=1;t=2`, "RateLimit-Policy", `"a";q=100;w=60;qu="content-bytes"`), []told{{"b", 0, 1, 2 * time.Second}}},
		{"of concurrency", header("RateLimit", `"a";r=5`), nil},
		{"without what is left", header("RateLimit", `"a";t=5`), nil},
		{"both families", header("RateLimit", `"a";r=5;t=30`, "X-RateLimit-Remaining", "9", "X-RateLimit-Reset", "9"), []told{{"a", 0, 5, 30 * time.Second}}},
		{"malformed, and the other", header("RateLimit", `limit=1`, "X-RateLimit-Remaining", "9", "X-RateLimit-Reset", "9"), []told{{"", 0, 9, 9 * time.Second}}},
		{"instant", header("X-RateLimit-Limit", "60", "X-RateLimit-Remaining", " 9 ", "X-RateLimit-Reset", "1794744010", "X-RateLimit-Policy", "p"), []told{{"p", 60, 9, 10 * time.Second}}},
		{"instant that is past", header("X-RateLimit-Remaining", "9", "X-RateLimit-Reset", "1794743000"), []told{{"", 0, 9, 0}}},
		{"no number", header("X-RateLimit-Remaining", "x", "X-RateLimit-Reset", "9"), nil},
		{"negative", header("X-RateLimit-Remaining", "-1", "X-RateLimit-Reset", "9"), nil},
		{"twice", header("X-RateLimit-Remaining", "1", "X-RateLimit-Remaining", "2", "X-RateLimit-Reset", "9"), nil},
		{"for ever", header("RateLimit", `"a";r=5;t=999999999999999`), []told{{"a", 0, 5, maxReset}}},
		{"for ever, legacy", header("X-RateLimit-Remaining", "1", "X-RateLimit-Reset", "9223372036854775807"), []told{{"", 0, 1, maxReset}}},
	} {
		if have := limitsOf(tc.h, noon); !slices.Equal(have, tc.want) {
			t.Errorf("%s: %+v, want %+v", tc.name, have, tc.want)
		}
	}
}

func TestRetryAfterField(t *testing.T) {
	for _, tc := range []struct {
		h    http.Header
		want time.Duration
		ok   bool
	}{
		{header(), 0, false},
		{header("Retry-After", "3"), 3 * time.Second, true},
		{header("Retry-After", "0"), 0, true},
		{header("Retry-After", "-3"), 0, false},
		{header("Retry-After", "1.5"), 0, false},
		{header("Retry-After", "99999999999999999"), maxReset, true},
		{header("Retry-After", "Sun, 15 Nov 2026 12:00:05 GMT"), 5 * time.Second, true},
		{header("Retry-After", "Sun, 15 Nov 2026 11:00:05 GMT"), 0, true},
		{header("Retry-After", "Sun, 15 Nov 2026 12:00:05 GMT", "Date", "Sun, 15 Nov 2026 11:59:55 GMT"), 10 * time.Second, true},
		{header("Retry-After", "tomorrow"), 0, false},
		{header("Retry-After", "1", "Retry-After", "2"), 0, false},
	} {
		if have, ok := retryAfter(tc.h, noon); have != tc.want || ok != tc.ok {
			t.Errorf("%v: %v %v, want %v %v", tc.h, have, ok, tc.want, tc.ok)
		}
	}
}

// FuzzFields: whatever a server says, times are in range.
func FuzzFields(f *testing.F) {
	f.Add(`"a";r=5;t=30`, `"a";q=100`, "9", "1794744010", "Sun, 15 Nov 2026 12:00:05 GMT")
	f.Add("", "", "9", "10", "3")
	f.Fuzz(func(t *testing.T, limit, policy, remaining, reset, retry string) {
		h := http.Header{
			"Ratelimit": {limit}, "Ratelimit-Policy": {policy}, "X-Ratelimit-Remaining": {remaining},
			"X-Ratelimit-Reset": {reset}, "Retry-After": {retry}, "X-Ratelimit-Policy": {policy},
		}
		for _, l := range limitsOf(h, noon) {
			if l.remaining < 0 || l.quota < 0 || l.reset < 0 || l.reset > maxReset {
				t.Errorf("%+v", l)
			}
		}
		if d, _ := retryAfter(h, noon); d < 0 || d > maxReset {
			t.Errorf("%v", d)
		}
		var tr Transport
		if d := tr.pause(3, h, noon); d < 0 || d > maxReset+DefaultMaxBackoff {
			t.Errorf("pause %v", d)
		}
	})
}
