package weir

// BreakerState is what the breaker before one shard of a store does.
type BreakerState uint8

// The states. A metric says them as these numbers.
const (
	BreakerClosed   BreakerState = iota // calls pass
	BreakerOpen                         // calls are refused, nothing is sent
	BreakerHalfOpen                     // one call is let through to see
)

var breakerStateNames = [...]string{"closed", "open", "half_open"}

func (s BreakerState) String() string {
	if int(s) >= len(breakerStateNames) {
		return "unknown"
	}
	return breakerStateNames[s]
}
