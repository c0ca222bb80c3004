package algo

import "github.com/weirlimit/weir"

// Decide decides one Enforce charge that stands alone: it admits and takes
// cost, or leaves s as it is. For concurrency, owner is who acquires.
func Decide(m *weir.Meter, s *State, now weir.Micros, cost int64, owner Owner) weir.Outcome {
	var o weir.Outcome
	DecideInto(m, s, now, cost, owner, &o)
	return o
}

// DecideInto is Decide with the outcome's memory given: copying one costs as
// much as filling it.
func DecideInto(m *weir.Meter, s *State, now weir.Micros, cost int64, owner Owner, o *weir.Outcome) {
	if m.Machine == weir.Bucket && !m.Shapes && s.Mark == m.Mark && cost > 0 && s.Used > 0 && s.Used <= m.Capacity {
		if m.Den == 1 {
			decideWhole(m, s, now, cost, o)
		} else {
			decideFraction(m, s, now, cost, o)
		}
		return
	}
	if m.Machine == weir.Runs && len(s.Runs) == 1 && s.Mark == m.Mark && cost > 0 && s.Runs[0].T > now-m.Limit.Window {
		decideRun(m, s, now, cost, o)
		return
	}
	*o = decide(m, s, now, cost, owner)
}

// decide is the general case.
func decide(m *weir.Meter, s *State, now weir.Micros, cost int64, owner Owner) weir.Outcome {
	if cost == 0 && s.Used > 0 && s.Mark != m.Mark {
		o, _ := Peek(m, *s, now, 0, nil)
		return o
	}
	s.advance(m, now)
	var o weir.Outcome
	o.Before = s.usage()
	o.OK = s.fits(m, cost, owner)
	if o.OK && cost > 0 {
		o.Delay = s.delay(m, now)
		o.Granted = s.take(m, now, cost, owner)
	}
	s.describe(m, now, cost, &o)
	return o
}

// fits tells whether cost units may be taken from an advanced state.
func (s *State) fits(m *weir.Meter, cost int64, owner Owner) bool {
	if cost == 0 || cost <= m.Capacity-s.Used {
		return true
	}
	return m.Machine == weir.Slots && s.held(owner) >= 0
}

// delay is what a shaped charge waits for: all that was there before it.
func (s *State) delay(m *weir.Meter, now weir.Micros) weir.Micros {
	if !m.Shapes || s.Used == 0 {
		return 0
	}
	return s.Expiry(m) - now
}

// describe fills what an outcome says of the state after it.
func (s *State) describe(m *weir.Meter, now weir.Micros, cost int64, o *weir.Outcome) {
	o.Remaining = s.room(m)
	if s.Used > 0 {
		o.ResetAfter = s.Expiry(m) - now
	}
	switch {
	case o.OK:
	case cost > m.Capacity:
		o.RetryAfter = weir.Never
	default:
		o.RetryAfter = s.freeAt(m, s.Used+cost-m.Capacity) - now
	}
}

// Peek describes s at now without changing it, as a charge of cost would find it.
// It works on a copy of the runs in scratch, which it returns for reuse.
func Peek(m *weir.Meter, s State, now weir.Micros, cost int64, scratch []Run) (weir.Outcome, []Run) {
	s.Runs = append(scratch[:0], s.Runs...)
	s.advance(m, now)
	o := weir.Outcome{Before: s.usage(), OK: s.fits(m, cost, Owner{})}
	s.describe(m, now, cost, &o)
	return o, s.Runs[:0]
}
