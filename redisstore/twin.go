package redisstore

import (
	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// A counter with two names has two keys in a flight, each with a state of its
// own: entries that know one of the names, and entries that know both in either
// order, can then stand in one flight and are decided in their order.

// gather gives the keys of a group that have twins the state that counts, which
// is that of the name to be read first, or else the other's. It keeps what was there for spread.
func (f *flight) gather(g *group) {
	f.kept = grow(f.kept, int(g.n))
	for i := range g.n {
		own, twin, c := f.twins(g, i)
		if c == nil {
			continue
		}
		f.kept[i].CopyFrom(own)
		first, other := own, twin
		if c.Twinning == weir.TwinLast {
			first, other = twin, own
		}
		switch {
		case first.Counts(c.Meter, f.now):
			if first != own {
				own.CopyFrom(first)
			}
		case other.Counts(c.Meter, f.now):
			if other != own {
				own.CopyFrom(other)
			}
		default:
			forget(own)
		}
		own.Dirty, f.loaded[f.keyOf[g.first+i]] = false, uint8(c.Meter.Machine)+1
	}
}

// spread brings the twins in line with what a decision changed. Where it
// changed nothing, nothing moves.
func (f *flight) spread(g *group) {
	for i := range g.n {
		own, twin, c := f.twins(g, i)
		switch {
		case c == nil:
		case !own.Dirty:
			own.CopyFrom(&f.kept[i])
		case c.Twinning == weir.TwinLast:
			twin.CopyFrom(own)
		default:
			forget(twin)
			twin.Dirty = true
		}
	}
}

// twins returns the states of both names of the group's i-th charge, or nothing
// if it has one name only.
func (f *flight) twins(g *group, i int32) (own, twin *algo.State, _ *weir.Charge) {
	at := g.first + i
	if f.twinOf[at] == 0 {
		return nil, nil, nil
	}
	c := &f.charges[at]
	return f.state(f.keyOf[at], c.Meter), f.state(f.twinOf[at]-1, c.Meter), c
}

func forget(s *algo.State) { *s = algo.State{Runs: s.Runs[:0]} }
