package algo

import "github.com/weirlimit/weir"

// Settle decides the charges of one entry together: states[i] is the state of
// charges[i]'s key, out[i] gets its outcome. It returns whether the entry is
// admitted. See weir.Mode for what each charge does; a denied entry leaves what
// is in use as it was, but for Always and Refund. A state of another limit
// becomes this one's, and dirty, even then: its expiry may have to move.
func Settle(charges []weir.Charge, owner Owner, states []State, now weir.Micros, out []weir.Outcome) bool {
	for i := range charges {
		c, s := &charges[i], &states[i]
		if isPeek(c) && s.Used > 0 && s.Mark != c.Meter.Mark {
			return settleAside(charges, i, owner, states, now, out)
		}
		s.advance(c.Meter, now)
		out[i] = weir.Outcome{Before: s.usage(), OK: true}
		if c.Mode != weir.Refund && c.Mode != weir.UpTo {
			out[i].OK = s.fits(c.Meter, c.Cost, owner)
		}
	}
	admitted := Passes(charges, out)
	grant := int64(-1)
	if charges[0].Mode == weir.UpTo {
		grant = leastRoom(charges, states)
	}
	for i := range charges {
		c, s, o := &charges[i], &states[i], &out[i]
		apply(c, s, o, now, owner, admitted, grant)
		s.describe(c.Meter, now, c.Cost, o)
	}
	return admitted
}

// apply changes one state as its charge's mode and the verdict ask.
func apply(c *weir.Charge, s *State, o *weir.Outcome, now weir.Micros, owner Owner, admitted bool, grant int64) {
	n := c.Cost
	switch c.Mode {
	case weir.Enforce, weir.Shadow:
		if !admitted || !o.OK {
			return
		}
	case weir.Peek:
		return
	case weir.Refund:
		if n > 0 {
			o.Granted = s.give(c.Meter, n, owner)
		}
		return
	case weir.UpTo:
		n = grant
	}
	if n > 0 {
		o.Delay = s.delay(c.Meter, now)
		o.Granted = s.take(c.Meter, now, n, owner)
	}
}

// Passes is the verdict on charges whose outcomes say OK or not: every charge
// that can deny has room, and of every group at least one has.
func Passes(charges []weir.Charge, out []weir.Outcome) bool {
	for i := range charges {
		if out[i].OK || charges[i].Mode == weir.Shadow {
			continue
		}
		if charges[i].Group == 0 || !groupHasRoom(charges, out, charges[i].Group) {
			return false
		}
	}
	return true
}

func groupHasRoom(charges []weir.Charge, out []weir.Outcome, group uint8) bool {
	for i := range charges {
		if charges[i].Group == group && out[i].OK {
			return true
		}
	}
	return false
}

func leastRoom(charges []weir.Charge, states []State) int64 {
	n := charges[0].Cost
	for i := range charges {
		n = min(n, charges[i].Cost, states[i].room(charges[i].Meter))
	}
	return n
}

func isPeek(c *weir.Charge) bool { return c.Mode == weir.Peek || c.Cost == 0 }

// settleAside settles charges of which the i-th only looks at a state that was
// written under another limit. Looking must not make it this limit's: it is
// done on a copy.
func settleAside(charges []weir.Charge, i int, owner Owner, states []State, now weir.Micros, out []weir.Outcome) bool {
	kept := states[i]
	states[i].Runs = append([]Run(nil), kept.Runs...)
	states[i].adopt(charges[i].Meter)
	admitted := Settle(charges, owner, states, now, out)
	states[i] = kept
	return admitted
}
