package weir

// Machine is the state machine that runs an algorithm: algorithms that share
// one also share the form of their state.
type Machine uint8

// The machines.
const (
	Bucket Machine = iota // gcra, token_bucket, leaky_bucket: units in use, draining
	Window                // fixed_window: a count and the instant it ends
	Runs                  // sliding_window, sliding_log: dated runs of units
	Slots                 // concurrency: dated units with an owner
)

// RunsPerWindow is k: how many runs a sliding window splits its count into. A
// rolling window admits at most ceil(count/k) - 1 units too many, and limits
// up to k are exact. docs/adr/0003 holds the measurements behind 16.
const RunsPerWindow = 16

// MaxUsed caps the units a state can hold. Only charges of mode Always reach
// it, because they count past the limit; three bytes hold it.
const MaxUsed int64 = 1<<24 - 1

// ttlGrid is the least distance between two expiry instants of a key, so that
// most writes leave the expiry alone.
const ttlGrid = 10 * Second

// Meter is a Limit that was checked and prepared: what every decision needs
// and none should compute. It is immutable; share it between all keys of the
// limit.
type Meter struct {
	Limit    Limit
	Machine  Machine
	Mark     uint16 // names machine, count and window in a stored state; see algo.State
	Capacity int64  // units that fit
	Shapes   bool   // leaky_bucket: an admitted charge carries a delay

	// The emission interval, Window/Count, is exactly Whole + Rem/Den
	// microseconds, with 0 <= Rem < Den <= MaxCount. Truncating it would admit
	// 1% too much at 30k/s and 43% at 700k/s.
	Whole, Rem, Den int64

	UsedCap int64  // no charge takes more into use; a bucket of so many drains for 2^52 us
	RunCap  int64  // units of different instants that one run may hold
	MaxRuns int    // runs kept before the two oldest are joined
	Grid    Micros // an expiry stays where it is while the state ends in one cell of this
}

// NewMeter checks l and prepares it.
func NewMeter(l Limit) (*Meter, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	m := &Meter{Limit: l, Capacity: l.Capacity(), Shapes: l.Algorithm == LeakyBucket}
	g := gcd(int64(l.Window), l.Count)
	period, den := int64(l.Window)/g, l.Count/g
	m.Whole, m.Rem, m.Den = period/den, period%den, den
	m.UsedCap = MaxUsed
	m.Grid = max(ttlGrid, l.Window/8/Second*Second)
	switch l.Algorithm {
	case GCRA, TokenBucket, LeakyBucket:
		m.Machine, m.UsedCap = Bucket, min(MaxUsed, 1<<52/(m.Whole+1))
	case FixedWindow:
		m.Machine = Window
	case SlidingWindow:
		m.Machine, m.RunCap, m.MaxRuns = Runs, (l.Count+RunsPerWindow-1)/RunsPerWindow, 2*RunsPerWindow+2
	case SlidingLog:
		m.Machine, m.RunCap, m.MaxRuns = Runs, 1, int(MaxLogCount)
	case Concurrency:
		m.Machine, m.RunCap, m.MaxRuns = Slots, 1, int(MaxLogCount)
	}
	m.Mark = m.mark()
	return m, nil
}

// MustMeter is NewMeter for limits written in the program; it panics on an
// invalid one.
func MustMeter(l Limit) *Meter {
	m, err := NewMeter(l)
	if err != nil {
		panic(err)
	}
	return m
}

// mark folds count and window into 14 bits below the machine's two. A state
// whose mark differs was written under another limit: its fraction of a
// microsecond and its expiry mean something else. Two limits share a mark with
// a chance of 1 in 16384; what is then misread is less than a microsecond.
func (m *Meter) mark() uint16 {
	h := uint64(m.Limit.Count)*0x9e3779b97f4a7c15 ^ uint64(m.Limit.Window/Second)*0xc2b2ae3d27d4eb4f
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return uint16(m.Machine)<<14 | uint16(h>>50)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
