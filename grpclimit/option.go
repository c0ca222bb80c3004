package grpclimit

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/internal/admission"
)

// DefaultMaxDelay is how long a call waits for a leaky bucket when WithMaxDelay
// does not say otherwise.
const DefaultMaxDelay = time.Second

const defaultDomain = "default"

// config is what options change.
type config struct {
	admission.Settings
	wrong      error // what is answered to everybody
	dimensions []Dimensions
	skip       []func(context.Context, *Call) bool

	cost    func(context.Context, *Call) int64
	message func(ctx context.Context, c *Call, message any) int64
	after   func(context.Context, *Call, *Result) int64
	refund  func(codes.Code) bool

	ranks func(context.Context, *Call) weir.Priority // nil: calls have no priority

	headers bool
	denial  func(context.Context, *Call, *weir.Decision) error
	idKey   string
}

func defaults() config {
	return config{
		Settings:   admission.Settings{Domain: defaultDomain, MaxDelay: DefaultMaxDelay},
		dimensions: []Dimensions{PeerIP()}, headers: true,
	}
}

// Option changes what New makes.
type Option func(*config)

// WithDomain sets the domain whose policies apply, "default" unless set.
func WithDomain(name string) Option { return func(c *config) { c.Domain = name } }

// WithPolicy has the one policy with that id decide, instead of all that match.
func WithPolicy(id string) Option { return func(c *config) { c.Policy = id } }

// WithDimensions says by what calls are told apart, in place of PeerIP. A
// dimension named route takes the place of the one that New adds.
func WithDimensions(fns ...Dimensions) Option {
	return func(c *config) {
		c.dimensions = fns
		for _, f := range fns {
			if f == nil {
				c.wrong = admission.Invalid("dimensions", "a function is nil", "for example grpclimit.PeerIP()")
			}
		}
	}
}

// WithSkip lets calls pass unlimited for which skip returns true; see Methods.
// It may be given several times.
func WithSkip(skip func(ctx context.Context, c *Call) bool) Option {
	return func(c *config) {
		if skip == nil {
			c.wrong = admission.Invalid("skip", "is nil", "leave it out")
			return
		}
		c.skip = append(c.skip, skip)
	}
}

// WithCost sets how many units a call costs, 1 unless set. 0 or less is free:
// nothing is charged, and nothing denies.
func WithCost(cost func(ctx context.Context, c *Call) int64) Option {
	return func(c *config) { c.cost = cost }
}

// WithMessageCost charges the messages that a stream receives, each as it
// comes, on top of what the stream cost: one that does not fit ends the stream
// like a denied call. It has been received by then, so it is charged all the
// same. A leaky bucket holds the next message back. nil charges 1 for each; 0
// or less charges nothing. Limits of concurrency count streams, not messages.
func WithMessageCost(cost func(ctx context.Context, c *Call, message any) int64) Option {
	if cost == nil {
		cost = func(context.Context, *Call, any) int64 { return 1 }
	}
	return func(c *config) { c.message = cost }
}

// WithCostAfter sets what a call costs on top, once its handler has returned: so
// many units are charged whether there is room for them or not, and whoever is
// in debt then is denied until it is paid. A negative number gives units back,
// for a cost that was estimated before. It is not called for a call that
// WithRefund gives back. See BytesCost and TrailerCost.
//
// A counter holds up to 16 million units: count kilobytes rather than bytes.
func WithCostAfter(cost func(ctx context.Context, c *Call, r *Result) int64) Option {
	return func(c *config) { c.after = cost }
}

// WithRefund gives back what a call was charged when it ends with a code for
// which refund returns true; see ServerErrors. A handler that panics ends with
// codes.Internal.
func WithRefund(refund func(code codes.Code) bool) Option {
	return func(c *config) { c.refund = refund }
}

// WithoutHeaders leaves the rate limit fields out of the metadata of admitted
// calls. Denials have them always.
func WithoutHeaders() Option { return func(c *config) { c.headers = false } }

// WithDenial makes the error that ends a denied call, in place of New's. It must
// not be nil, or the call ends with codes.Internal. The header fields are set
// already. d is not to be kept.
func WithDenial(deny func(ctx context.Context, c *Call, d *weir.Decision) error) Option {
	return func(c *config) { c.denial = deny }
}

// WithFailClosed ends calls with UNAVAILABLE when the checker makes no decision,
// in place of letting them pass. How a policy fails when its counters are away
// is said by the policy, and is a decision.
func WithFailClosed() Option { return func(c *config) { c.Closed = true } }

// WithErrorLog is told of every error: checks without a decision, and refunds,
// releases and costs afterwards that could not be made. It must not block, and
// is called on any goroutine.
func WithErrorLog(log func(error)) Option { return func(c *config) { c.Log = log } }

// WithMaxDelay bounds how long a call waits for a leaky bucket, DefaultMaxDelay
// unless set. One that would wait longer is denied, with the time after which
// its wait would be short enough, and charged nothing: with 0 that is everyone
// who would have to wait. Below 0 nobody waits, and everything goes on at once.
func WithMaxDelay(most time.Duration) Option { return func(c *config) { c.MaxDelay = most } }

// WithConcurrency gives every call an id, by which limits of concurrency count
// it until its handler returns. Without it, ids are given once a check was
// refused for want of one, which costs a second check: use it where many calls
// are so limited, and with a remote checker. Ids are kept by the store for ten
// minutes.
func WithConcurrency() Option { return func(c *config) { c.Slots = true } }

// WithRequestID takes the call's id from a metadata key: a call that is made
// again with the same id is not charged again. Only for a key that a gateway
// sets: a caller who can choose ids can choose not to be charged.
func WithRequestID(key string) Option {
	return func(c *config) { c.idKey = strings.ToLower(key) }
}
