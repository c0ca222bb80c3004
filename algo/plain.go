package algo

import "github.com/weirlimit/weir"

// SettlePlain is Settle for charges of mode Enforce that cost something and are
// in no group, on states that do not lie side by side: what most entries are.
func SettlePlain(charges []weir.Charge, owner Owner, states []*State, now weir.Micros, out []weir.Outcome) bool {
	admitted := true
	for i := range charges {
		c, s, o := &charges[i], states[i], &out[i]
		s.advance(c.Meter, now)
		*o = weir.Outcome{Before: s.usage(), OK: s.fits(c.Meter, c.Cost, owner)}
		admitted = admitted && o.OK
	}
	for i := range charges {
		c, s, o := &charges[i], states[i], &out[i]
		if admitted {
			o.Delay = s.delay(c.Meter, now)
			o.Granted = s.take(c.Meter, now, c.Cost, owner)
		}
		s.describe(c.Meter, now, c.Cost, o)
	}
	return admitted
}
