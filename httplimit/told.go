package httplimit

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// told is what a response says of one limit.
type told struct {
	name      string
	quota     int64 // 0 when not known
	remaining int64
	reset     time.Duration // until then the remaining units are all there is
}

// maxReset bounds times that servers name, so that sums stay in range.
const maxReset = 365 * 24 * time.Hour

// limitsOf reads a response's limits: RateLimit with RateLimit-Policy (draft-11),
// or else X-RateLimit-Limit, -Remaining and -Reset. Limits that count something
// else than requests, or that do not say when, are left out: there is nothing
// to spread them over.
func limitsOf(h http.Header, now time.Time) []told {
	members, ok := parseList(h["Ratelimit"])
	if !ok || len(members) == 0 {
		return legacyOf(h, now)
	}
	policies, _ := parseList(h["Ratelimit-Policy"])
	var out []told
	for _, m := range members {
		if m.r < 0 || m.t < 0 {
			continue
		}
		limit := told{name: m.name, remaining: m.r, reset: seconds(m.t)}
		requests := true
		for _, p := range policies {
			if p.name == m.name {
				limit.quota = max(0, p.q)
				requests = p.unit == "" || p.unit == "requests"
			}
		}
		if requests {
			out = append(out, limit)
		}
	}
	return out
}

// legacyOf reads the fields that came before any standard. Their reset is an
// instant in Unix seconds, or a number of seconds: no window is as long as the
// time since 1970.
func legacyOf(h http.Header, now time.Time) []told {
	remaining, okRemaining := number(h, "X-Ratelimit-Remaining")
	reset, okReset := number(h, "X-Ratelimit-Reset")
	if !okRemaining || !okReset {
		return nil
	}
	const longAgo = 1_000_000_000 // 2001, or 31 years
	limit := told{remaining: remaining, reset: seconds(reset)}
	if reset >= longAgo {
		limit.reset = seconds(max(0, reset-now.Unix()))
	}
	limit.quota, _ = number(h, "X-Ratelimit-Limit")
	const maxNameBytes = 256 // which are remembered
	if name := h["X-Ratelimit-Policy"]; len(name) == 1 && len(name[0]) <= maxNameBytes {
		limit.name = name[0]
	}
	return []told{limit}
}

// number reads a field that is a whole number of 0 or more, and was sent once.
func number(h http.Header, key string) (int64, bool) {
	values := h[key]
	if len(values) != 1 {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(values[0]), 10, 64)
	return n, err == nil && n >= 0
}

func seconds(n int64) time.Duration {
	return time.Duration(min(n, int64(maxReset/time.Second))) * time.Second
}

// retryAfter reads Retry-After: seconds, or a date. A date is taken against the
// server's own clock where it tells it.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	if n, ok := number(h, "Retry-After"); ok {
		return seconds(n), true
	}
	values := h["Retry-After"]
	if len(values) != 1 {
		return 0, false
	}
	at, err := http.ParseTime(strings.TrimSpace(values[0]))
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return min(max(0, at.Sub(now)), maxReset), true
}
