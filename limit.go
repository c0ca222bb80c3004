package weir

import (
	"fmt"
	"math/bits"
)

// Algorithm names how a Limit counts. The zero value is invalid on purpose: a
// limit whose algorithm was forgotten must not silently become another one.
type Algorithm uint8

// The algorithms. Their worst-case bounds are published in package algo and
// in docs/algorithms.md.
const (
	_ Algorithm = iota
	// GCRA admits bursts up to Burst, then a steady Count per Window.
	GCRA
	// TokenBucket is GCRA under the name of its other description: a bucket of
	// Burst tokens that refills by Count per Window.
	TokenBucket
	// SlidingWindow is a rolling quota of Count per Window, kept as runs.
	SlidingWindow
	// FixedWindow is a quota that resets on the clock.
	FixedWindow
	// LeakyBucket shapes: an admitted request carries the delay to wait, and
	// at most Burst units wait at a time.
	LeakyBucket
	// SlidingLog is an exact rolling quota for low volumes.
	SlidingLog
	// Concurrency bounds units in progress; Window is how long one may take
	// before it counts as abandoned.
	Concurrency

	algorithms = int(Concurrency)
)

var algorithmNames = [algorithms + 1]string{
	"invalid", "gcra", "token_bucket", "sliding_window", "fixed_window",
	"leaky_bucket", "sliding_log", "concurrency",
}

func (a Algorithm) String() string {
	if int(a) >= len(algorithmNames) {
		return fmt.Sprintf("algorithm(%d)", uint8(a))
	}
	return algorithmNames[a]
}

// ParseAlgorithm returns the algorithm of that name.
func ParseAlgorithm(name string) (Algorithm, error) {
	for i, n := range algorithmNames {
		if i > 0 && n == name {
			return Algorithm(i), nil
		}
	}
	return 0, invalid("algorithm", "unknown algorithm %q", name).
		withHint("one of gcra, token_bucket, sliding_window, fixed_window, leaky_bucket, sliding_log, concurrency")
}

// hasBurst tells the algorithms that hold Burst units from those that hold Count.
func (a Algorithm) hasBurst() bool {
	return a == GCRA || a == TokenBucket || a == LeakyBucket
}

// Bounds on what a Limit may say. They are chosen so that no intermediate of
// any algorithm exceeds 2^53, which is what Lua computes exactly.
const (
	MaxCount    int64  = 10_000_000
	MinWindow   Micros = Second
	MaxWindow   Micros = Year
	MaxHorizon  Micros = 2 * Year // burst x window / count: how long a full bucket takes to drain
	MaxLogCount int64  = 1_000    // sliding_log and concurrency keep an entry per unit
)

// Limit is what an operator asks for: Count units per Window. It is plain,
// comparable data; NewMeter checks it. The zero value is invalid.
type Limit struct {
	Algorithm Algorithm
	Count     int64  // units per Window; 1 to MaxCount (MaxLogCount for logs and concurrency)
	Window    Micros // whole seconds, MinWindow to MaxWindow
	Burst     int64  // gcra, token_bucket, leaky_bucket only; 0 means Count
}

// Capacity is the most units that can be in use at once.
func (l Limit) Capacity() int64 {
	if l.Algorithm.hasBurst() && l.Burst > 0 {
		return l.Burst
	}
	return l.Count
}

// Validate returns an *Error that names the field at fault, or nil.
func (l Limit) Validate() error {
	if l.Algorithm == 0 || int(l.Algorithm) > algorithms {
		return invalid("algorithm", "no such algorithm: %d", uint8(l.Algorithm)).
			withHint("set one, for example gcra or sliding_window")
	}
	most := MaxCount
	if l.Algorithm == SlidingLog || l.Algorithm == Concurrency {
		most = MaxLogCount
	}
	if l.Count < 1 || l.Count > most {
		return invalid("count", "%d is outside 1 to %d for %s", l.Count, most, l.Algorithm)
	}
	if l.Window < MinWindow || l.Window > MaxWindow {
		return invalid("window", "%d us is outside 1 s to 365 d", int64(l.Window))
	}
	if l.Window%Second != 0 {
		return invalid("window", "%d us is not a whole number of seconds", int64(l.Window))
	}
	return l.validateBurst()
}

func (l Limit) validateBurst() error {
	if !l.Algorithm.hasBurst() {
		if l.Burst != 0 {
			return invalid("burst", "%s has no burst", l.Algorithm).
				withHint("leave burst out, or use gcra")
		}
		return nil
	}
	if l.Burst < 0 || l.Burst > MaxCount {
		return invalid("burst", "%d is outside 1 to %d", l.Burst, MaxCount)
	}
	// Both products need more than 64 bits.
	needHi, needLo := bits.Mul64(uint64(l.Capacity()), uint64(l.Window))
	mostHi, mostLo := bits.Mul64(uint64(MaxHorizon), uint64(l.Count))
	if needHi > mostHi || needHi == mostHi && needLo > mostLo {
		return invalid("burst", "burst %d takes more than two years to refill at %d per %d s",
			l.Capacity(), l.Count, int64(l.Window/Second)).
			withHint("lower the burst or raise the rate")
	}
	return nil
}
