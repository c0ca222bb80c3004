package httplimit

import (
	"net/http"
	"time"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/admission"
	"github.com/weirlimit/weir/internal/respond"
)

// DefaultMaxDelay is how long a request waits for a leaky bucket when
// WithMaxDelay does not say otherwise.
const DefaultMaxDelay = time.Second

const defaultDomain = "default"

// config is what options change.
type config struct {
	admission.Settings
	wrong      error // what is answered to everybody
	dimensions []Dimensions
	skip       []func(*http.Request) bool

	cost   func(*http.Request) int64
	after  func(r *http.Request, status int, bytes int64, h http.Header) int64
	refund func(status int) bool

	ranks func(*http.Request) weir.Priority // nil: requests have no priority

	headers  bool
	family   respond.Family
	denial   func(http.ResponseWriter, *http.Request, *weir.Decision)
	onError  func(http.ResponseWriter, *http.Request, error)
	idHeader string
}

func defaults() config {
	return config{
		Settings:   admission.Settings{Domain: defaultDomain, MaxDelay: DefaultMaxDelay},
		dimensions: []Dimensions{RemoteIP()}, headers: true,
	}
}

// Option changes what New makes.
type Option func(*config)

// WithDomain sets the domain whose policies apply, "default" unless set.
func WithDomain(name string) Option { return func(c *config) { c.Domain = name } }

// WithPolicy has the one policy with that id decide, instead of all that match.
func WithPolicy(id string) Option { return func(c *config) { c.Policy = id } }

// WithDimensions says by what requests are told apart, in place of RemoteIP.
// A dimension of the same name as one that New adds (method, path, route) takes
// its place.
func WithDimensions(fns ...Dimensions) Option {
	return func(c *config) {
		c.dimensions = fns
		for _, f := range fns {
			if f == nil {
				c.wrong = admission.Invalid("dimensions", "a function is nil", "for example httplimit.RemoteIP()")
			}
		}
	}
}

// WithSkip lets requests pass unlimited for which skip returns true. It may be
// given several times.
func WithSkip(skip func(*http.Request) bool) Option {
	return func(c *config) {
		if skip == nil {
			c.wrong = admission.Invalid("skip", "is nil", "leave it out")
			return
		}
		c.skip = append(c.skip, skip)
	}
}

// WithCost sets how many units a request costs, 1 unless set. 0 or less is
// free: nothing is charged, and nothing denies.
func WithCost(cost func(*http.Request) int64) Option { return func(c *config) { c.cost = cost } }

// WithCostAfter sets what a request costs on top, once its response is written:
// so many units are charged whether there is room for them or not, and whoever
// is in debt then is denied until it is paid. A negative number gives units
// back, for a cost that was estimated before. It is not called for a request
// that WithRefund gives back.
//
// A counter holds up to 16 million units: count kilobytes rather than bytes.
func WithCostAfter(cost func(r *http.Request, status int, bytes int64, h http.Header) int64) Option {
	return func(c *config) { c.after = cost }
}

// WithRefund gives back what a request was charged when its response has a
// status for which refund returns true; see ServerErrors. A handler that panics
// has status 500.
func WithRefund(refund func(status int) bool) Option { return func(c *config) { c.refund = refund } }

// WithoutHeaders leaves the rate limit fields off responses of admitted
// requests. Denials have them always.
func WithoutHeaders() Option { return func(c *config) { c.headers = false } }

// WithStandardHeaders leaves all fields but RateLimit and RateLimit-Policy off
// responses of admitted requests.
func WithStandardHeaders() Option { return func(c *config) { c.family = respond.Standard } }

// WithLegacyHeaders leaves all fields but X-RateLimit-Limit, -Remaining and
// -Reset off responses of admitted requests.
func WithLegacyHeaders() Option { return func(c *config) { c.family = respond.Legacy } }

// WithDenial answers denied requests in place of the status and body of New.
// The header fields, Retry-After too, are set already. d is not to be kept.
func WithDenial(deny func(w http.ResponseWriter, r *http.Request, d *weir.Decision)) Option {
	return func(c *config) { c.denial = deny }
}

// WithFailClosed answers 503 when the checker makes no decision, in place of
// letting the request pass. How a policy fails when its counters are away is
// said by the policy, and is a decision.
func WithFailClosed() Option { return func(c *config) { c.Closed = true } }

// WithErrorResponse answers requests that are refused for an error, in place of
// New's 400 and 503.
func WithErrorResponse(answer func(w http.ResponseWriter, r *http.Request, err error)) Option {
	return func(c *config) { c.onError = answer }
}

// WithErrorLog is told of every error: checks without a decision, and refunds,
// releases and costs after the response that could not be made. It must not
// block, and is called on any goroutine.
func WithErrorLog(log func(error)) Option { return func(c *config) { c.Log = log } }

// WithMaxDelay bounds how long a request waits for a leaky bucket,
// DefaultMaxDelay unless set. One that would wait longer is denied, with the
// time after which its wait would be short enough, and charged nothing: with 0
// that is everyone who would have to wait. Below 0 nobody waits, and everything
// goes on at once.
func WithMaxDelay(most time.Duration) Option { return func(c *config) { c.MaxDelay = most } }

// WithConcurrency gives every request an id, by which limits of concurrency
// count it until its handler returns. Without it, ids are given once a check
// was refused for want of one, which costs a second check: use it where many
// requests are so limited, and with a remote checker. Ids are kept by the store
// for ten minutes.
func WithConcurrency() Option { return func(c *config) { c.Slots = true } }

// WithRequestID takes the request's id from a header field: a request that is
// sent again with the same id is not charged again. Only for a field that a
// gateway sets: a caller who can choose ids can choose not to be charged.
func WithRequestID(header string) Option {
	return func(c *config) { c.idHeader = http.CanonicalHeaderKey(header) }
}
