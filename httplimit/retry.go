package httplimit

import (
	"io"
	"net/http"
	"time"
)

// mayRetry tells whether a request that got this response may be sent again: a
// denial was not acted upon, whatever the method; what is unavailable may have
// got half way, so that only what may be done twice is.
func mayRetry(r *http.Request, status int) bool {
	if r.Body != nil && r.Body != http.NoBody && r.GetBody == nil {
		return false // it is gone
	}
	switch status {
	case http.StatusTooManyRequests:
		return true
	case http.StatusServiceUnavailable:
		return idempotent(r)
	}
	return false
}

// idempotent is net/http's own rule for sending something again, and the
// methods that are idempotent by definition.
func idempotent(r *http.Request) bool {
	switch r.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	for _, key := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if _, ok := r.Header[key]; ok {
			return true
		}
	}
	return false
}

// pause returns how long to wait before attempt n, counting from 1 for the first
// repetition: as long as the server says, and by chance up to as long as the
// backoff of that attempt, so that those who were denied together do not return
// together.
func (t *Transport) pause(n int, h http.Header, now time.Time) time.Duration {
	base, _ := retryAfter(h, now)
	if base == 0 {
		for _, l := range limitsOf(h, now) {
			if l.remaining == 0 {
				base = max(base, l.reset)
			}
		}
	}
	backoff := t.minBackoff()
	for range n - 1 {
		if backoff *= 2; backoff >= t.maxBackoff() {
			break
		}
	}
	return base + time.Duration(t.random(int64(min(backoff, t.maxBackoff()))+1))
}

// maxDrain is what is read of a body that nobody wants, so that its connection
// can be used again, and maxDrainTime how long; more is cheaper to hang up on,
// and a server may never end it.
const (
	maxDrain     = 64 << 10
	maxDrainTime = 100 * time.Millisecond
)

func discard(body io.ReadCloser) {
	hangUp := time.AfterFunc(maxDrainTime, func() { _ = body.Close() }) // ends the read
	_, _ = io.CopyN(io.Discard, body, maxDrain)                         // it is thrown away
	if hangUp.Stop() {
		_ = body.Close()
	}
}
