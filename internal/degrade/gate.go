package degrade

import (
	"sync/atomic"
	"time"

	"github.com/weirlimit/weir/engine"
)

// The defaults of GateOptions.
const (
	DefaultMaxInFlight = 16384
	DefaultFloor       = 256
)

// GateOptions configures a Gate. Target is required.
type GateOptions struct {
	// MaxInFlight is how many requests may wait for the store at once, however
	// fast it is; 0 is DefaultMaxInFlight, and half a million is the most.
	MaxInFlight int
	// Floor is how many may, however slow it is; 0 is DefaultFloor, and never
	// above MaxInFlight.
	Floor int
	// Target is what the store should answer within: half of the deadline is a
	// good one. While more than a tenth of the answers take longer, fewer
	// requests are let in.
	Target time.Duration
}

// Gate keeps requests out before they wait too long. Those are answered by their
// fail mode at once, which is better than the same after the deadline.
//
//	limit  falls by a tenth a sample while the store is slow   -> floor
//	       grows by a 32nd a sample while it is not            -> the most
//
// Make one with NewGate.
type Gate struct {
	tuning tuning
	limit  atomic.Int64
	peak   atomic.Int64 // the most that were under way since the limit was changed
	_      [48]byte     // what follows is written by every request

	// One number, because one addition is most of the cost: how many are under
	// way (20 bits), and of the present sample how many have left (22) and how
	// many of them were slow (22).
	state atomic.Uint64
}

const (
	insideBits = 20
	leftBits   = 22
	oneLeft    = 1 << insideBits
	oneSlow    = 1 << (insideBits + leftBits)

	// mostInFlight leaves room in those bits for the ones that are on their way
	// to be kept out.
	mostInFlight = 1 << (insideBits - 1)
)

var _ engine.Gate = (*Gate)(nil)

// NewGate returns a gate that is wide open.
func NewGate(o GateOptions) *Gate {
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = DefaultMaxInFlight
	}
	if o.Floor <= 0 {
		o.Floor = DefaultFloor
	}
	most := int64(min(o.MaxInFlight, mostInFlight))
	g := &Gate{tuning: tuning{most: most, floor: min(int64(o.Floor), most), target: o.Target}}
	g.limit.Store(most)
	return g
}

// Enter implements engine.Gate.
func (g *Gate) Enter() bool {
	n := inside(g.state.Add(1))
	if n > g.limit.Load() {
		g.state.Add(^uint64(0))
		return false
	}
	if n > g.peak.Load() {
		g.peak.Store(n) // of two at once either will do
	}
	return true
}

// Leave implements engine.Gate.
func (g *Gate) Leave(took time.Duration) {
	change := uint64(oneLeft - 1)
	if took > g.tuning.target {
		change += oneSlow
	}
	s := g.state.Add(change)
	if left(s) >= minSample {
		g.tune(s)
	}
}

// tune changes the limit once the sample is large enough.
func (g *Gate) tune(s uint64) {
	limit := g.limit.Load()
	if left(s) < g.tuning.sample(limit) || !g.state.CompareAndSwap(s, uint64(inside(s))) {
		return // too few, or somebody came in between and the next will do it
	}
	// The peak, and not those under way now: a store answers in batches, and
	// after a large one there may be nobody.
	peak := g.peak.Swap(inside(s))
	g.limit.Store(g.tuning.next(limit, seen{calls: left(s), slow: int64(s / oneSlow), peak: peak}))
}

func inside(s uint64) int64 { return int64(s % oneLeft) }
func left(s uint64) int64   { return int64(s % oneSlow / oneLeft) }

// InFlight is how many requests wait for the store, and how many may.
func (g *Gate) InFlight() (now, limit int64) { return inside(g.state.Load()), g.limit.Load() }
