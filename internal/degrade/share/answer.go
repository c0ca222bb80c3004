package share

import (
	"slices"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// Part is what a charge of an entry is decided on.
type Part struct {
	State *State
	Parts int // how many shares there are; 1 at least
	// Starts: a concurrency limit's units count as held for a second each.
	// Without it the limit has no say: what is in progress is not known here.
	Starts bool
	// NoDebt: an always charge that is denied is not counted. In a store it ends
	// with its window; a share is a bucket, in which a caller that goes on asking
	// would owe ever more and never be let through again.
	NoDebt bool
}

// Desk is the memory that deciding needs. The zero Desk is ready.
type Desk struct {
	meters  []weir.Meter
	charges []weir.Charge
	states  []algo.State
}

// Answer decides e as a store would, on the states of its charges' keys, and
// fills its outcomes: what they say is of the share. An up_to charge is granted
// nothing. There is a part for every charge.
func (d *Desk) Answer(e *weir.Entry, now weir.Micros, parts []Part) {
	n := len(e.Charges)
	d.reserve(n)
	for i := range n {
		d.prepare(i, &e.Charges[i], parts[i])
	}
	e.Outcomes = slices.Grow(e.Outcomes[:0], n)[:n]
	e.Replayed, e.Err = false, nil
	e.Admitted = algo.Settle(d.charges, algo.Owner{}, d.states, now, e.Outcomes)
	for i := range n {
		o := &e.Outcomes[i]
		parts[i].State.close(&d.states[i])
		// What was added for a large request is not left.
		o.Remaining = max(0, o.Remaining-(d.meters[i].Capacity-capacity(&e.Charges[i], parts[i])))
		o.Before.Since = 0 // of this process's clock: nothing to anybody else
	}
}

func (d *Desk) reserve(n int) {
	d.meters = slices.Grow(d.meters[:0], n)[:n]
	d.charges = slices.Grow(d.charges[:0], n)[:n]
	d.states = slices.Grow(d.states[:0], n)[:n]
}

// prepare makes a charge on the share of one on the limit.
func (d *Desk) prepare(i int, c *weir.Charge, p Part) {
	m := &d.meters[i]
	*m = Of(c.Meter, p.Parts)
	cost := c.Cost
	if c.Mode == weir.UpTo || c.Meter.Machine == weir.Slots && !p.Starts {
		cost = 0
	}
	d.states[i] = p.State.open(c.Meter, m, min(max(p.Parts, 1), MaxParts))
	// A request that is larger than the share passes when nothing is in use, and
	// is paid for afterwards.
	m.Capacity = max(m.Capacity, min(cost, c.Meter.Capacity))
	d.charges[i] = weir.Charge{Key: c.Key, Meter: m, Cost: cost, Mode: c.Mode, Group: c.Group}
	if p.NoDebt && c.Mode == weir.Always {
		d.charges[i].Mode = weir.Enforce
	}
}

// capacity is that of the share.
func capacity(c *weir.Charge, p Part) int64 {
	return max(1, c.Meter.Capacity/int64(min(max(p.Parts, 1), MaxParts)))
}
