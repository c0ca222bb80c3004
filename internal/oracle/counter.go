package oracle

import (
	"fmt"

	"github.com/weirlimit/weir"
)

// maxUsed is how many units a key may hold, past any limit: what three bytes
// store.
const maxUsed = 1<<24 - 1

// Counter is one key under one limit. See comes before any other method.
type Counter interface {
	// See brings the counter to now and lets go what is free by then.
	See(now weir.Micros)
	// SetLimit changes the limit, keeping what is in use.
	SetLimit(l weir.Limit)
	// Clone returns a counter that goes its own way from here.
	Clone() Counter
	// Used is the number of units in use, Since their instant (weir.Usage).
	Used() int64
	Since() weir.Micros
	// Holds tells whether owner holds units; of concurrency only.
	Holds(owner string) bool
	// Take puts n units in use, whether they fit or not, and returns how many
	// were counted. Give takes n out of use.
	Take(n int64, owner string) int64
	Give(n int64, owner string) int64
	// FreeAt is the first whole microsecond at which n fewer are in use.
	FreeAt(n int64) weir.Micros
}

// New returns an empty counter for l.
func New(l weir.Limit) Counter {
	if err := l.Validate(); err != nil {
		panic(err)
	}
	switch l.Algorithm {
	case weir.GCRA, weir.TokenBucket, weir.LeakyBucket:
		return newBucket(l)
	case weir.FixedWindow:
		return &fixed{limit: l}
	case weir.SlidingWindow, weir.SlidingLog:
		return &rollingLog{limit: l}
	case weir.Concurrency:
		return &slots{limit: l}
	}
	panic(fmt.Sprintf("no oracle for %s", l.Algorithm))
}

// Decide is one charge of mode Enforce that stands alone.
func Decide(c Counter, l weir.Limit, now weir.Micros, cost int64, owner string) weir.Outcome {
	charge := []weir.Charge{{Key: "k", Cost: cost}}
	_, out := Settle([]Key{{Counter: c, Limit: l}}, charge, owner, now)
	return out[0]
}
