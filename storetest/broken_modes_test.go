package storetest

import (
	"slices"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// as turns one mode into another.
func as(from, to weir.Mode) func() Harness {
	return each(func(c *weir.Charge) {
		if c.Mode == from && (c.Meter.Machine != weir.Slots || to != weir.Always) {
			c.Mode = to
		}
	})
}

func brokenModes() []broken {
	return []broken{
		{"lets a shadow block", []string{"modes", "vectors/modes"}, as(weir.Shadow, weir.Enforce)},
		{"never charges a shadow", []string{"modes"}, as(weir.Shadow, weir.Peek)},
		{"charges a full shadow", []string{"modes", "history/bucket"}, deciding(chargeFullShadow)},
		{"charges a peek", []string{"modes", "vectors/modes"}, as(weir.Peek, weir.Enforce)},
		{"stops counting always at the limit", []string{"modes", "vectors/groups"}, as(weir.Always, weir.Enforce)},
		{"does not let always deny", []string{"modes"}, telling(func(e *weir.Entry) {
			e.Admitted = e.Admitted || e.Charges[0].Mode == weir.Always
		})},
		{"grants up_to all or nothing", []string{"modes", "vectors/up_to"}, as(weir.UpTo, weir.Enforce)},
		{"grants up_to each key what it has", []string{"modes", "vectors/up_to"}, deciding(grantEachItsOwn)},
		{"grants up_to one too many", []string{"modes", "linearizable"}, tellingOf(func(c *weir.Charge, o *weir.Outcome) {
			if c.Mode == weir.UpTo || c.Mode == weir.Refund {
				o.Granted++
			}
		})},
		{"takes a group for its members", []string{"groups", "vectors/groups"}, each(func(c *weir.Charge) { c.Group = 0 })},
		{"takes all groups for one", []string{"groups", "history/groups"}, each(func(c *weir.Charge) { c.Group = min(c.Group, 1) })},
		{"charges group members without room", []string{"groups"}, each(func(c *weir.Charge) {
			if c.Group != 0 && c.Mode == weir.Enforce && c.Meter.Machine != weir.Slots {
				c.Mode = weir.Always
			}
		})},
		{"charges on denial", []string{"modes", "all_or_nothing", "vectors/fixed_window"}, deciding(chargeOnDenial)},
		{"decides each charge for itself", []string{"modes", "order", "vectors/batches"}, deciding(decideApart)},
		{"ignores cost", []string{"modes", "vectors/costs", "vectors/token_bucket"}, each(func(c *weir.Charge) { c.Cost = min(c.Cost, 1) })},
		{"checks for one and charges the cost", []string{"history/runs", "vectors/sliding_log"}, deciding(checkForOne)},
		{"refunds twice", []string{"refunds", "vectors/refunds"}, each(func(c *weir.Charge) {
			if c.Mode == weir.Refund && c.Cost < 1<<32 {
				c.Cost *= 2
			}
		})},
		{"never refunds", []string{"refunds", "linearizable"}, as(weir.Refund, weir.Peek)},
		{"reports the refund that was asked for", []string{"refunds"}, tellingOf(func(c *weir.Charge, o *weir.Outcome) {
			if c.Mode == weir.Refund && c.Meter.Machine != weir.Slots {
				o.Granted = c.Cost
			}
		})},
		{"cuts costs to 32 bits", []string{"huge_costs"}, each(func(c *weir.Charge) { c.Cost = int64(uint32(c.Cost)) })},
		{"says one more is left", []string{"modes", "vectors/gcra"}, tellingOf(func(_ *weir.Charge, o *weir.Outcome) { o.Remaining++ })},
		{"says less than nothing is left", []string{"vectors/limits", "history/limits"}, tellingOf(func(c *weir.Charge, o *weir.Outcome) {
			o.Remaining = c.Meter.Capacity - o.Before.Used - o.Granted
		})},
		{"says what it held afterwards", []string{"modes", "linearizable"}, tellingOf(func(_ *weir.Charge, o *weir.Outcome) { o.Before.Used += o.Granted })},
		{"tells no delay", []string{"vectors/leaky_bucket", "real_clock"}, tellingOf(func(_ *weir.Charge, o *weir.Outcome) { o.Delay = 0 })},
		{"says never to retry in vain", []string{"huge_costs", "vectors/costs"}, tellingOf(func(c *weir.Charge, o *weir.Outcome) {
			if o.RetryAfter == weir.Never {
				o.RetryAfter = c.Meter.Limit.Window
			}
		})},
		{"says to retry 1 us early", []string{"retry_exact", "clock_back", "vectors/gcra_primes"}, tellingOf(func(_ *weir.Charge, o *weir.Outcome) {
			if o.RetryAfter > 1 && o.RetryAfter != weir.Never {
				o.RetryAfter--
			}
		})},
		{"says to retry in whole milliseconds", []string{"retry_exact", "history/window"}, tellingOf(func(_ *weir.Charge, o *weir.Outcome) {
			if o.RetryAfter != weir.Never {
				o.RetryAfter -= o.RetryAfter % weir.Millisecond
			}
		})},
	}
}

func chargeFullShadow(m *Model, e *weir.Entry, now weir.Micros) {
	m.decideLocked(e, now)
	for i, c := range e.Charges {
		if c.Mode == weir.Shadow && !e.Outcomes[i].OK && c.Meter.Machine != weir.Slots {
			c.Mode = weir.Always
			m.settleLocked(&weir.Entry{Charges: []weir.Charge{c}}, now)
		}
	}
}

func chargeOnDenial(m *Model, e *weir.Entry, now weir.Micros) {
	m.decideLocked(e, now)
	if e.Admitted {
		return
	}
	for _, c := range e.Charges {
		if c.Mode == weir.Enforce && c.Meter.Machine != weir.Slots {
			c.Mode = weir.Always
			m.settleLocked(&weir.Entry{Charges: []weir.Charge{c}}, now)
		}
	}
}

// decideApart gives each charge an entry of its own.
func decideApart(m *Model, e *weir.Entry, now weir.Micros) {
	outcomes, admitted := e.Outcomes[:0], true
	for _, c := range e.Charges {
		one := weir.Entry{ID: e.ID, Charges: []weir.Charge{c}}
		m.decideLocked(&one, now)
		outcomes, admitted = append(outcomes, one.Outcomes...), admitted && one.Admitted
	}
	e.Outcomes, e.Admitted, e.Now = outcomes, admitted, now
}

func grantEachItsOwn(m *Model, e *weir.Entry, now weir.Micros) {
	if e.Charges[0].Mode != weir.UpTo {
		m.decideLocked(e, now)
		return
	}
	decideApart(m, e, now)
}

// checkForOne admits a cost where one unit has room.
func checkForOne(m *Model, e *weir.Entry, now weir.Micros) {
	if c := e.Charges[0]; len(e.Charges) == 1 && c.Mode == weir.Enforce && c.Meter.Machine == weir.Runs && c.Cost > 1 {
		s := m.loadLocked(c.Key)
		o, _ := algo.Peek(c.Meter, s, now, 1, nil)
		if o.OK {
			c.Mode = weir.Always
			other := *e
			other.Charges = []weir.Charge{c}
			m.decideLocked(&other, now)
			other.Charges, other.Admitted = slices.Clone(e.Charges), true
			*e = other
			return
		}
	}
	m.decideLocked(e, now)
}
