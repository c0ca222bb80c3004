package weir

import (
	"context"
	"time"
)

// Pair is one dimension of a request and its value, such as tenant=acme.
type Pair struct{ Name, Value string }

// Descriptor is one set of dimensions to be limited, and what it costs.
type Descriptor struct {
	Pairs []Pair
	// Cost overrides Request.Cost when HasCost is set; 0 is then a peek.
	Cost    int64
	HasCost bool
	Refund  bool // give Cost back instead
	// Spent: the units are spent already, as when a response tells what it cost:
	// charge them whether they fit or not. The decision says truthfully whether
	// they did; there is nobody left to deny. Limits of concurrency are left
	// alone. A counter holds at most its meter's UsedCap, 2^24-1 units unless its
	// limit is very slow; what is above is forgotten, and the outcome's Granted
	// tells. Not together with Refund.
	Spent bool
	Limit *Meter // overrides the rule's limit; nil for none
}

// Request asks whether something may pass. A native request has one
// descriptor; an Envoy request has one or more.
type Request struct {
	Domain      string
	Policy      string // a policy's id, or empty for all that match
	Descriptors []Descriptor
	Cost        int64  // 0 means 1
	ID          string // see Entry.ID
	Deadline    time.Time
}

// Checker answers requests: an engine in this process, or a remote one.
type Checker interface {
	// Check fills d. A denial is not an error. An error means that no decision
	// was made, and is an *Error. Both pointers belong to the caller again when
	// Check returns. Safe for concurrent use.
	Check(ctx context.Context, r *Request, d *Decision) error
}

// AsyncChecker is a Checker that need not hold a goroutine per request.
type AsyncChecker interface {
	Checker
	// Submit is Check with a callback. r and d belong to the checker until done
	// is called, exactly once, on any goroutine, possibly before Submit
	// returns; done must not block.
	Submit(r *Request, d *Decision, done func(error))
}

// Releaser is a Checker's other half, for limits of concurrency.
type Releaser interface {
	// Release gives back what the request with r's id holds of the concurrency
	// limits that apply to r, and returns how many units that was and under
	// which version of the policies. It may be called more than once. Safe for
	// concurrent use.
	Release(ctx context.Context, r *Request) (released int64, version string, err error)
}
