package httplimit

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/weirlimit/weir/internal/admission"
)

// Defaults of a Transport.
const (
	DefaultMaxAttempts = 4
	DefaultMaxElapsed  = 30 * time.Second
	DefaultMaxPace     = 2 * time.Second
	DefaultMinBackoff  = 100 * time.Millisecond
	DefaultMaxBackoff  = 5 * time.Second
)

// Transport is an http.RoundTripper that keeps to the limits servers tell of. It
// reads RateLimit and RateLimit-Policy, or X-RateLimit-Limit, -Remaining and
// -Reset.
//
// When less than a quarter of a quota is left it spreads what is left over the
// time that it has to last. What is denied all the same (429), and what is
// unavailable (503) and may be done twice, is sent again after Retry-After and
// a backoff with full jitter, if its body can be had again (GetBody, which
// http.NewRequest sets for bytes and strings). What is not sent again is
// returned as it came. Nothing waits past the request's context: if the time
// does not suffice, the response is returned at once.
//
// The zero value is ready to use. Fields are not to be changed once it is used.
type Transport struct {
	// Base sends the requests; nil is http.DefaultTransport.
	Base http.RoundTripper
	// MaxAttempts is how often a request is sent, the first time included; 0 is
	// DefaultMaxAttempts, 1 never sends again.
	MaxAttempts int
	// MaxElapsed bounds the time from the first attempt to the beginning of the
	// last; 0 is DefaultMaxElapsed.
	MaxElapsed time.Duration
	// MaxPace bounds how long a request is held back before it is sent at all;
	// 0 is DefaultMaxPace, below 0 holds nothing back.
	MaxPace time.Duration
	// MinBackoff and MaxBackoff bound the random part of a wait: it is drawn
	// from 0 to MinBackoff before the first repetition, to twice that before the
	// next. 0 is DefaultMinBackoff and DefaultMaxBackoff.
	MinBackoff, MaxBackoff time.Duration
	// Key names what shares limits; nil is the request's scheme and host. A
	// limit is taken to hold for everything of its key: where parts of a host,
	// or credentials, are limited apart, tell them apart.
	Key func(*http.Request) string
	// Waiting is told before each wait: how long, and whether it is for a limit
	// that is nearly used up or to send again. nil for nobody.
	Waiting func(r *http.Request, d time.Duration, again bool)

	pacer pacer
	draw  func(n int64) int64 // from 0 to n-1; nil is rand.Int64N
}

var _ http.RoundTripper = (*Transport)(nil)

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	began := time.Now()
	try := req
	for n := 1; ; n++ {
		resp, err := t.send(try)
		if err != nil {
			return nil, err
		}
		if n >= t.maxAttempts() || !mayRetry(req, resp.StatusCode) {
			return resp, nil
		}
		now := time.Now()
		d := t.pause(n, resp.Header, now)
		if now.Add(d).Sub(began) > t.maxElapsed() || !lasts(req.Context(), now.Add(d)) {
			return resp, nil
		}
		next, err := again(req)
		if err != nil {
			return resp, nil // the body could not be had; the answer can
		}
		discard(resp.Body)
		if err := t.sleep(req, max(0, d-time.Since(now)), true); err != nil {
			closeBody(next)
			return nil, err
		}
		try = next
	}
}

// send sends a request once, when its limits allow it.
func (t *Transport) send(r *http.Request) (*http.Response, error) {
	key := t.key(r)
	now := time.Now()
	d, known := t.pacer.begin(key, now)
	d = min(d, t.maxPace())
	// Being held back is a courtesy, for which no request has to fail.
	if d > 0 && lasts(r.Context(), now.Add(d)) {
		if err := t.sleep(r, d, false); err != nil {
			t.pacer.end(key, known, nil, time.Now())
			closeBody(r)
			return nil, err
		}
	}
	resp, err := t.base().RoundTrip(r)
	now = time.Now()
	if err != nil {
		t.pacer.end(key, known, nil, now)
		return nil, err
	}
	t.pacer.end(key, known, limitsOf(resp.Header, now), now)
	return resp, nil
}

// again returns req with its body from the beginning. A RoundTripper leaves the
// request it is given alone.
func again(req *http.Request) (*http.Request, error) {
	next := *req
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		next.Body = body
	}
	return &next, nil
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}

// lasts tells whether ctx is expected to last until then.
func lasts(ctx context.Context, until time.Time) bool {
	deadline, ok := ctx.Deadline()
	return !ok || until.Before(deadline)
}

func (t *Transport) sleep(r *http.Request, d time.Duration, again bool) error {
	if t.Waiting != nil {
		t.Waiting(r, d, again)
	}
	if !admission.Sleep(r.Context(), d) {
		return r.Context().Err()
	}
	return nil
}

func (t *Transport) key(r *http.Request) string {
	if t.Key != nil {
		return t.Key(r)
	}
	if r.URL == nil {
		return r.Host
	}
	return r.URL.Scheme + "://" + r.URL.Host
}

func (t *Transport) base() http.RoundTripper {
	if t.Base != nil {
		return t.Base
	}
	return http.DefaultTransport
}

func (t *Transport) random(n int64) int64 {
	if t.draw != nil {
		return t.draw(n)
	}
	return rand.Int64N(n)
}

func (t *Transport) maxAttempts() int          { return cmp.Or(t.MaxAttempts, DefaultMaxAttempts) }
func (t *Transport) maxElapsed() time.Duration { return cmp.Or(t.MaxElapsed, DefaultMaxElapsed) }
func (t *Transport) maxPace() time.Duration    { return cmp.Or(t.MaxPace, DefaultMaxPace) }
func (t *Transport) minBackoff() time.Duration {
	return min(max(1, cmp.Or(t.MinBackoff, DefaultMinBackoff)), t.maxBackoff())
}

func (t *Transport) maxBackoff() time.Duration {
	return max(1, cmp.Or(t.MaxBackoff, DefaultMaxBackoff))
}
