package sim

import (
	"github.com/weirlimit/weir"
)

// leases are what a node was granted of a counter, by the servers' own account.
// What it spends must be of a grant that has not ended by the node's clock, and
// what it asks for within what it may hold.
type leases struct {
	c      *counter
	grants []grant
	short  weir.Micros // when the last was less than was asked for; 0 when it was not
}

// A node that was granted less aims at half. It grows from there by an eighth of
// what it may hold at a time, and looks again every 10 ms: soon after, it asks for
// less than it may hold. Of few units an eighth is too much to tell.
const (
	soonAfter = 20 * weir.Millisecond
	manyUnits = 16
)

type grant struct {
	units int64
	until weir.Micros // by the node's clock
}

// The life of a lease as it is published: five refresh intervals of 100 ms, at
// most a sub-window, not past a window's end; less a thousandth and a millisecond.
const leaseLife = 500 * weir.Millisecond

func trusted(span weir.Micros) weir.Micros { return span - span/1000 - weir.Millisecond }

// wished is told of a lease that a node asks for.
func (n *node) wished(c *call) {
	for i := range c.copied.Charges {
		charge := &c.copied.Charges[i]
		n.note("asks for a lease of %d", charge.Key, charge.Cost, 0)
		k := c.t.counter(charge.Key)
		l := &k.leases[n.id]
		if charge.Cost > k.most {
			k.w.fail("hold", "%s (%s): node %d asks for %d units, and may hold %d", k.key, k.meter.Limit, n.id, charge.Cost, k.most)
		}
		if l.short > 0 && k.w.now-l.short < soonAfter && k.most >= manyUnits && charge.Cost > k.most/2+3*k.most/8 {
			k.w.fail("halve", "%s (%s): node %d asks for %d of %d units after it was granted less than it asked for",
				k.key, k.meter.Limit, n.id, charge.Cost, k.most)
		}
	}
}

// granted is told of a lease that arrives.
func (n *node) granted(c *call) {
	n.backed = n.w.now
	for i := range c.copied.Charges {
		charge, o := &c.copied.Charges[i], &c.copied.Outcomes[i]
		n.note("is granted %d of %d", charge.Key, o.Granted, charge.Cost)
		k := c.t.counter(charge.Key)
		l := &k.leases[n.id]
		l.short = 0
		if o.Granted < charge.Cost {
			l.short = k.w.now
		}
		life := leaseLife
		if k.meter.Machine == weir.Runs {
			life = min(life, k.meter.Limit.Window/16)
		}
		life = trusted(life)
		if k.meter.Machine == weir.Window {
			life = min(life, trusted(o.ResetAfter))
		}
		if o.Granted > 0 {
			l.grants = append(l.grants, grant{o.Granted, c.sent + life})
		}
	}
}

// spent takes units from the grants, from those that end first.
func (l *leases) spent(n *node, units int64) {
	now, wants := n.now(), units
	for units > 0 {
		first := -1
		for i := 0; i < len(l.grants); i++ {
			switch g := &l.grants[i]; {
			case g.units == 0 || now >= g.until:
				l.grants = append(l.grants[:i], l.grants[i+1:]...)
				i--
			case first < 0 || g.until < l.grants[first].until:
				first = i
			}
		}
		if first < 0 {
			l.c.w.fail("leases", "%s (%s): node %d spends %d units, of which %d were not debited for it or have ended",
				l.c.key, l.c.meter.Limit, n.id, wants, units)
			return
		}
		part := min(units, l.grants[first].units)
		l.grants[first].units -= part
		units -= part
	}
}

// windows are the admissions of a fixed window, which is exact while the store
// answers: no window of the server's clock has more than the limit, leases
// included.
type windows struct {
	counts map[weir.Micros]int64
	spoilt bool // something was lost, or decided without the store
}

func (w *windows) add(c *counter, at weir.Micros, cost int64) {
	if c.meter.Machine != weir.Window || w.spoilt {
		return
	}
	i := at / c.meter.Limit.Window
	w.counts[i] += cost
	if n := w.counts[i]; n > c.meter.Limit.Count {
		c.w.fail("window", "%s (%s): %d units in one window", c.key, c.meter.Limit, n)
	}
}
