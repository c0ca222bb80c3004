package oracle

import "github.com/weirlimit/weir"

// Key is a counter and the limit that a charge names for it.
type Key struct {
	Counter Counter
	Limit   weir.Limit
}

// Settle decides the charges of one entry by the table beside weir.Mode. Of a
// charge it reads cost, mode and group; keys[i] is what charges[i] charges.
func Settle(keys []Key, charges []weir.Charge, owner string, now weir.Micros) (bool, []weir.Outcome) {
	out := make([]weir.Outcome, len(charges))
	for i, k := range keys {
		k.Counter.See(now)
		out[i].Before = weir.Usage{Used: k.Counter.Used()}
		if k.Counter.Used() > 0 {
			out[i].Before.Since = k.Counter.Since()
		}
		out[i].OK = fits(k, charges[i], owner)
	}
	admitted := verdict(charges, out)
	grant := leastRoom(keys, charges)
	for i, k := range keys {
		n := due(charges[i], out[i].OK, admitted, grant)
		switch {
		case charges[i].Mode == weir.Refund && charges[i].Cost > 0:
			out[i].Granted = k.Counter.Give(charges[i].Cost, owner)
		case n > 0:
			if k.Limit.Algorithm == weir.LeakyBucket && k.Counter.Used() > 0 {
				out[i].Delay = k.Counter.FreeAt(k.Counter.Used()) - now
			}
			out[i].Granted = k.Counter.Take(n, owner)
		}
		describe(k, charges[i].Cost, now, &out[i])
	}
	return admitted, out
}

func fits(k Key, c weir.Charge, owner string) bool {
	if c.Mode == weir.Refund || c.Mode == weir.UpTo || c.Cost == 0 {
		return true
	}
	return c.Cost <= k.Limit.Capacity()-k.Counter.Used() || k.Counter.Holds(owner)
}

// verdict denies for a charge without room that enforces, unless it is of a
// group of which a member has room.
func verdict(charges []weir.Charge, out []weir.Outcome) bool {
	grouped := map[uint8]bool{}
	for i, c := range charges {
		if c.Group != 0 {
			grouped[c.Group] = grouped[c.Group] || out[i].OK
		}
	}
	for i, c := range charges {
		switch c.Mode {
		case weir.Enforce, weir.Always, weir.Peek:
			if c.Group == 0 && !out[i].OK || c.Group != 0 && !grouped[c.Group] {
				return false
			}
		}
	}
	return true
}

// due is how many units a charge puts in use.
func due(c weir.Charge, ok, admitted bool, grant int64) int64 {
	switch c.Mode {
	case weir.Enforce, weir.Shadow:
		if admitted && ok {
			return c.Cost
		}
	case weir.Always:
		return c.Cost
	case weir.UpTo:
		return grant
	}
	return 0
}

// leastRoom is what an entry of up-to charges is granted: the same of each.
func leastRoom(keys []Key, charges []weir.Charge) int64 {
	least := charges[0].Cost
	for i, k := range keys {
		least = min(least, charges[i].Cost, max(0, k.Limit.Capacity()-k.Counter.Used()))
	}
	return least
}

// describe looks at the counter after the charge.
func describe(k Key, cost int64, now weir.Micros, o *weir.Outcome) {
	used, most := k.Counter.Used(), k.Limit.Capacity()
	o.Remaining = max(0, most-used)
	if used > 0 {
		o.ResetAfter = k.Counter.FreeAt(used) - now
	}
	switch {
	case o.OK:
	case cost > most:
		o.RetryAfter = weir.Never
	default:
		o.RetryAfter = k.Counter.FreeAt(used+cost-most) - now
	}
}
