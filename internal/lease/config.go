package lease

import (
	"github.com/weirlimit/weir"
)

// What a Config says when it says nothing.
const (
	DefaultShare   = 0.05
	DefaultRefresh = 100 * weir.Millisecond
)

// Bounds on a Config.
const (
	MinRefresh = 10 * weir.Millisecond
	MaxRefresh = 250 * weir.Millisecond // twice that is as long as a lease may live
	MaxShare   = 0.5
)

// The life of a lease is some refresh intervals, so that one that is used
// slowly is not lost at once, and never long, so that what a node that has gone
// held is missed by nobody for long.
const (
	refreshes = 5
	maxLife   = 500 * weir.Millisecond
)

// Config is how leases are taken. The zero value is not valid: see Settle.
type Config struct {
	// Share of a limit's capacity that all nodes together may hold, 0 to MaxShare.
	Share float64
	// Refresh is how long a lease should last, MinRefresh to MaxRefresh.
	Refresh weir.Micros
}

// Settle returns c with the defaults in the place of zeros.
func (c Config) Settle() Config {
	if c.Share == 0 {
		c.Share = DefaultShare
	}
	if c.Refresh == 0 {
		c.Refresh = DefaultRefresh
	}
	return c
}

// Validate returns an *Error that names the field at fault, or nil.
func (c Config) Validate() error {
	if !(c.Share > 0 && c.Share <= MaxShare) { // so put, NaN is at fault too
		return &weir.Error{Code: weir.CodeInvalid, Field: "share", Message: "is not above 0 and at most 0.5", Hint: "0.05 is a twentieth of each limit"}
	}
	if c.Refresh < MinRefresh || c.Refresh > MaxRefresh {
		return &weir.Error{Code: weir.CodeInvalid, Field: "refresh", Message: "is not between 10ms and 250ms", Hint: "100ms suits most"}
	}
	return nil
}

// Leasable tells whether units of a limit may be taken ahead. Those of a
// leaky_bucket carry a delay of their own, those of concurrency an owner, and a
// sliding_log is asked for where every unit counts.
func Leasable(m *weir.Meter) bool {
	switch m.Limit.Algorithm {
	case weir.GCRA, weir.TokenBucket, weir.SlidingWindow, weir.FixedWindow:
		return true
	}
	return false
}

// Most is how many units of a limit one of so many nodes may hold; 0 where
// their share is too small for each to hold one.
func (c Config) Most(m *weir.Meter, nodes int) int64 {
	if !Leasable(m) {
		return 0
	}
	n := int64(c.Share * float64(m.Capacity) / float64(max(nodes, 1)))
	return max(0, min(n, weir.MaxUsed))
}
