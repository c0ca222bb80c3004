package pseudonym

import (
	"slices"

	"github.com/weirlimit/weir"
)

// NeededUntil is the instant after which no node looks for names under salt i.
// ok is false for a salt that nothing follows yet.
func (r *Ring) NeededUntil(i int) (until weir.Micros, ok bool) {
	if i+1 >= len(r.config.Salts) {
		return 0, false
	}
	// And the overlap once more: the clock that says so may be ahead of another's.
	return r.config.Salts[i+1].From + r.config.takes() + r.config.Overlap, true
}

// needed tells whether some node may name counters by salt i at now.
func (r *Ring) needed(i int, now weir.Micros) bool {
	if until, ok := r.NeededUntil(i); ok && now >= until {
		return false
	}
	return i == 0 || !r.awaits(i, now)
}

// awaits tells whether salt i is one that no node uses yet at now.
func (r *Ring) awaits(i int, now weir.Micros) bool {
	return i > 0 && now < r.config.Salts[i].From-2*r.config.Overlap
}

// Accept tells whether next can take the place of r at now and all counters
// keep counting. The error is a *weir.Error.
func (r *Ring) Accept(next *Ring, now weir.Micros) error {
	was, is := &r.config, &next.config
	if was.Slots != is.Slots {
		return invalid("slots", "put the old one back: it never changes",
			"is another one, which would move every private counter to another slot and so reset it")
	}
	if was.Overlap != is.Overlap && (r.rotating(now) || next.rotating(now)) {
		return invalid("overlap", "change it when the rotation is over", "changes during a rotation")
	}
	for i := range was.Salts {
		s := &was.Salts[i]
		j := slices.IndexFunc(is.Salts, func(o Salt) bool { return o.ID == s.ID })
		switch {
		case j < 0 && !r.needed(i, now):
		case j < 0:
			return invalid("salts", "put it back; weir salt list says until when each is needed",
				"salt %s is gone and still needed: the counters that it names would be reset", s.ID)
		case is.Salts[j].Secret != s.Secret:
			return invalid("salts", "put it back, and add a salt with another id", "salt %s is another one under the same id", s.ID)
		case is.Salts[j].From != s.From && (!r.awaits(i, now) || !next.awaits(j, now)):
			return invalid("salts", "put it back: nodes use it already", "salt %s has another from", s.ID)
		}
	}
	return r.newAreLast(is, now)
}

// newAreLast refuses a salt that is put between those in use: it would change
// what they follow.
func (r *Ring) newAreLast(is *Config, now weir.Micros) error {
	used := false // a later salt that nodes use already
	for j := len(is.Salts) - 1; j >= 0; j-- {
		i := slices.IndexFunc(r.config.Salts, func(o Salt) bool { return o.ID == is.Salts[j].ID })
		switch {
		case i >= 0:
			used = used || !r.awaits(i, now)
		case used:
			return invalid("salts", "let it come into force after them", "salt %s is new and comes before others that are in use", is.Salts[j].ID)
		}
	}
	return nil
}

// rotating tells whether a node may be writing two names at now.
func (r *Ring) rotating(now weir.Micros) bool {
	for i := 1; i < len(r.config.Salts); i++ {
		if from, d := r.config.Salts[i].From, 2*r.config.Overlap; now >= from-d && now < from+d {
			return true
		}
	}
	return false
}

// Late returns the salts of next that r does not have and that other nodes may
// have been using at now, and so before this one knew them.
func (r *Ring) Late(next *Ring, now weir.Micros) []Salt {
	var late []Salt
	for _, s := range next.config.Salts {
		known := slices.ContainsFunc(r.config.Salts, func(o Salt) bool { return o.ID == s.ID })
		if !known && now >= s.From-next.config.Overlap {
			late = append(late, s)
		}
	}
	return late
}
