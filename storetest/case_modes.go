package storetest

import "github.com/weirlimit/weir"

// modeStep is one charge of a sequence on one key, and what its answer says.
// was is what it finds in use; wait that it names an instant to retry at.
type modeStep struct {
	mode          weir.Mode
	cost          int64
	admitted, ok  bool
	granted, left int64
	was           int64
	wait          bool
}

// checkModes tries every row of weir.Mode's table on a limit of 10.
func checkModes(p *probe) {
	p.sequence(still(10), []modeStep{
		{mode: weir.Peek, cost: 10, admitted: true, ok: true, left: 10},
		{mode: weir.Peek, cost: 11, wait: true, left: 10},
		{mode: weir.Enforce, cost: 4, admitted: true, ok: true, granted: 4, left: 6},
		{mode: weir.Enforce, cost: 7, left: 6, was: 4, wait: true},
		{mode: weir.Enforce, cost: 0, admitted: true, ok: true, left: 6, was: 4},
		{mode: weir.Shadow, cost: 3, admitted: true, ok: true, granted: 3, left: 3, was: 4},
		{mode: weir.Shadow, cost: 4, admitted: true, left: 3, was: 7, wait: true},
		{mode: weir.Peek, cost: 3, admitted: true, ok: true, left: 3, was: 7},
		{mode: weir.Peek, cost: 4, left: 3, was: 7, wait: true},
		{mode: weir.UpTo, cost: 2, admitted: true, ok: true, granted: 2, left: 1, was: 7},
		{mode: weir.UpTo, cost: 5, admitted: true, ok: true, granted: 1, left: 0, was: 9},
		{mode: weir.UpTo, cost: 5, admitted: true, ok: true, was: 10},
		{mode: weir.Always, cost: 3, granted: 3, was: 10, wait: true},
		{mode: weir.Always, cost: 0, admitted: true, ok: true, was: 13},
		{mode: weir.Shadow, cost: 1, admitted: true, was: 13, wait: true},
		{mode: weir.Refund, cost: 4, admitted: true, ok: true, granted: 4, left: 1, was: 13},
		{mode: weir.Enforce, cost: 1, admitted: true, ok: true, granted: 1, was: 9},
		{mode: weir.Refund, cost: 0, admitted: true, ok: true, was: 10},
		{mode: weir.Refund, cost: 11, admitted: true, ok: true, granted: 10, left: 10, was: 10},
	})
	checkModesTogether(p)
}

// sequence charges one key step by step.
func (p *probe) sequence(m *weir.Meter, steps []modeStep) {
	p.Helper()
	key := p.key("modes")
	for i, s := range steps {
		e := p.take("", weir.Charge{Key: key, Meter: m, Cost: s.cost, Mode: s.mode})
		o := e.Outcomes[0]
		got := modeStep{s.mode, s.cost, e.Admitted, o.OK, o.Granted, o.Remaining, o.Before.Used, o.RetryAfter > 0}
		if got != s {
			p.Fatalf("step %d, %s %d:\n got %+v\nwant %+v", i, s.mode, s.cost, got, s)
		}
	}
}

// checkModesTogether charges six keys at once, of which the first decides.
func checkModesTogether(p *probe) {
	m := still(2)
	entry := func() []weir.Charge {
		return []weir.Charge{
			{Key: p.key("enforce"), Meter: m, Cost: 1},
			{Key: p.key("other"), Meter: m, Cost: 1},
			{Key: p.key("shadow"), Meter: m, Cost: 1, Mode: weir.Shadow},
			{Key: p.key("always"), Meter: m, Cost: 1, Mode: weir.Always},
			{Key: p.key("peek"), Meter: m, Cost: 1, Mode: weir.Peek},
		}
	}
	want := func(used ...int64) {
		p.Helper()
		for i, c := range entry() {
			p.wantUsed(c.Key, m, used[i])
		}
	}
	p.wantAdmitted(p.take("", entry()...), true)
	want(1, 1, 1, 1, 0)
	p.take("", weir.Charge{Key: p.key("enforce"), Meter: m, Cost: 1})
	want(2, 1, 1, 1, 0)
	// Denied by the first: only the always charge counts.
	p.wantAdmitted(p.take("", entry()...), false)
	want(2, 1, 1, 2, 0)
	p.take("", weir.Charge{Key: p.key("enforce"), Meter: m, Cost: 2, Mode: weir.Refund})
	// Denied by the always charge, which is full.
	p.wantAdmitted(p.take("", entry()...), false)
	want(0, 1, 1, 3, 0)
	checkUpToTogether(p)
}

// checkUpToTogether grants over two windows what the tighter one has.
func checkUpToTogether(p *probe) {
	tight, wide := still(3), still(10)
	grant := func(want int64) {
		p.Helper()
		e := p.take("",
			weir.Charge{Key: p.key("wide"), Meter: wide, Cost: 2, Mode: weir.UpTo},
			weir.Charge{Key: p.key("tight"), Meter: tight, Cost: 2, Mode: weir.UpTo})
		p.wantAdmitted(e, true)
		for i, o := range e.Outcomes {
			if o.Granted != want || !o.OK {
				p.Fatalf("up_to charge %d: granted %d, ok %v; want %d, true", i, o.Granted, o.OK, want)
			}
		}
	}
	grant(2)
	grant(1)
	grant(0)
	p.wantUsed(p.key("wide"), wide, 3)
}

// checkGroups tries quota groups: one member with room is enough, and those
// without are not charged.
func checkGroups(p *probe) {
	one, five := still(1), still(5)
	a, b, c := p.key("a"), p.key("b"), p.key("c")
	entry := []weir.Charge{
		{Key: a, Meter: one, Cost: 1, Group: 1},
		{Key: b, Meter: five, Cost: 1, Group: 1},
		{Key: c, Meter: five, Cost: 1},
	}
	want := func(usedA, usedB, usedC int64) {
		p.Helper()
		p.wantUsed(a, one, usedA)
		p.wantUsed(b, five, usedB)
		p.wantUsed(c, five, usedC)
	}
	p.wantAdmitted(p.take("", entry...), true)
	want(1, 1, 1)
	e := p.take("", entry...)
	p.wantAdmitted(e, true)
	if e.Outcomes[0].OK || e.Outcomes[0].RetryAfter == 0 {
		p.Fatalf("the full member of an admitted group has ok %v, retry %d", e.Outcomes[0].OK, e.Outcomes[0].RetryAfter)
	}
	want(1, 2, 2)
	p.take("", weir.Charge{Key: b, Meter: five, Cost: 3})
	p.wantAdmitted(p.take("", entry...), false)
	want(1, 5, 2)
	// Two groups: each needs a member with room.
	entry[2].Group = 2
	p.wantAdmitted(p.take("", entry...), false)
	want(1, 5, 2)
	p.take("", weir.Charge{Key: a, Meter: one, Cost: 1, Mode: weir.Refund})
	p.wantAdmitted(p.take("", entry...), true)
	want(1, 5, 3)
}

// checkRefunds gives back more than there is, from one of two keys, and
// together with a denial.
func checkRefunds(p *probe) {
	for _, text := range []string{"10/365d burst 10", "10/365d", "10/365d sliding_log", "100/365d", "10/365d burst 10 leaky_bucket"} {
		m := meter(text)
		key := p.key("refund " + text)
		p.take("", weir.Charge{Key: key, Meter: m, Cost: 6})
		for _, step := range []struct{ cost, granted, used int64 }{{2, 2, 4}, {0, 0, 4}, {100, 4, 0}, {1, 0, 0}} {
			e := p.take("", weir.Charge{Key: key, Meter: m, Cost: step.cost, Mode: weir.Refund})
			if o := e.Outcomes[0]; !e.Admitted || !o.OK || o.Granted != step.granted {
				p.Fatalf("%s: refund of %d: admitted %v, ok %v, granted %d; want %d", text, step.cost, e.Admitted, o.OK, o.Granted, step.granted)
			}
			p.wantUsed(key, m, step.used)
		}
		p.wantAdmitted(p.take("", weir.Charge{Key: key, Meter: m, Cost: m.Capacity}), true)
		p.wantAdmitted(p.take("", weir.Charge{Key: key, Meter: m, Cost: 1}), false)
	}
}

// checkConcurrency acquires, renews and releases by request id.
func checkConcurrency(p *probe) {
	m := meter("3 concurrency 1h")
	key := p.key("slots")
	charge := func(cost int64, mode weir.Mode) weir.Charge {
		return weir.Charge{Key: key, Meter: m, Cost: cost, Mode: mode}
	}
	p.wantAdmitted(p.take("one", charge(1, weir.Enforce)), true)
	p.wantAdmitted(p.take("two", charge(2, weir.Enforce)), true)
	p.wantAdmitted(p.take("three", charge(1, weir.Enforce)), false)
	// Who holds units may ask again: nothing more is taken.
	e := p.take("one", charge(1, weir.Enforce))
	p.wantAdmitted(e, true)
	if e.Outcomes[0].Granted != 0 || e.Replayed {
		p.Fatalf("renewing granted %d, replayed %v; want 0, false", e.Outcomes[0].Granted, e.Replayed)
	}
	p.wantUsed(key, m, 3)
	// Who holds none has none to release.
	if e := p.take("three", charge(1, weir.Refund)); e.Outcomes[0].Granted != 0 {
		p.Fatalf("a stranger released %d units", e.Outcomes[0].Granted)
	}
	p.wantUsed(key, m, 3)
	if e := p.take("two", charge(2, weir.Refund)); e.Outcomes[0].Granted != 2 {
		p.Fatalf("releasing 2 units gave back %d", e.Outcomes[0].Granted)
	}
	p.wantUsed(key, m, 1)
	p.wantAdmitted(p.take("three", charge(2, weir.Enforce)), true)
}
