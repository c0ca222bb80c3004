package pseudonym

import "github.com/weirlimit/weir"

// Phase is which names counters have at an instant.
type Phase struct {
	Key  int // the salt of the name that is used
	Twin int // the salt of the other one; -1 when there is none

	twinning weir.Twinning
	since    weir.Micros // TwinOld: for how long no node has written the old name
}

// At returns the phase of the instant now, by the clock of this node.
func (r *Ring) At(now weir.Micros) Phase {
	salts, overlap := r.config.Salts, r.config.Overlap
	i := len(salts) - 1
	for i > 0 && salts[i].From > now {
		i--
	}
	if next := i + 1; next < len(salts) && now >= salts[next].From-overlap {
		return Phase{Key: i, Twin: next, twinning: weir.TwinNext}
	}
	if i == 0 {
		return Phase{Key: 0, Twin: -1}
	}
	p := Phase{Key: i, Twin: i - 1, twinning: weir.TwinLast}
	if age := now - salts[i].From; age >= overlap {
		// The last writes are at T+D by a clock that is up to D behind this one.
		p.twinning, p.since = weir.TwinOld, age-2*overlap
	}
	return p
}

// Twinning is that of a counter whose states matter for as long as horizon when
// nobody touches them.
func (p Phase) Twinning(horizon weir.Micros) weir.Twinning {
	if p.twinning == weir.TwinOld && p.since >= max(horizon, Replays) {
		return weir.TwinNone
	}
	return p.twinning
}
