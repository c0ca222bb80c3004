package storetest

import (
	"fmt"

	"github.com/weirlimit/weir"
)

// checkTwins takes a counter through its phases, one by one and mixed, and looks
// at what is kept under which name.
func checkTwins(p *probe) {
	m := still(100)
	c := p.counter("walk", m)
	take := func(ph phase, cost int64, mode weir.Mode, found int64) {
		p.Helper()
		p.found(p.take("", c.in(ph, cost, mode)), found)
	}
	take(phaseOld, 1, weir.Enforce, 0)
	take(phaseNext, 2, weir.Enforce, 1)
	p.wantUnder(c, 3, 0)
	take(phaseOld, 4, weir.Enforce, 3) // whoever is behind is not left behind
	take(phaseLast, 8, weir.Enforce, 7)
	p.wantUnder(c, 15, 15)
	take(phaseNext, 1, weir.Enforce, 15)
	p.wantUnder(c, 16, 0)
	take(phaseLast, 1, weir.Refund, 16)
	p.wantUnder(c, 15, 15)
	take(phaseLeft, 16, weir.Always, 15)
	p.wantUnder(c, 0, 31)
	take(phaseLast, 1, weir.Shadow, 31)
	p.wantUnder(c, 32, 32)
	take(phaseLeft, 70, weir.UpTo, 32)
	p.wantUnder(c, 0, 100)
	take(phaseNew, 3, weir.Refund, 100)
	take(phaseLeft, 1, weir.Peek, 97)

	checkTwinsUnchanged(p)
	checkTwinsEmptied(p)
	checkTwinsApart(p)
	checkTwinsMixedLimits(p)
}

// checkTwinsUnchanged sends what changes nothing: nothing moves.
func checkTwinsUnchanged(p *probe) {
	m := still(10)
	for _, ph := range []phase{phaseNext, phaseLast, phaseLeft} {
		for i, under := range []phase{phaseOld, phaseNew} {
			c := p.counter(fmt.Sprint("unchanged ", ph, under), m)
			p.take("", c.in(under, 5, weir.Enforce))
			for _, mode := range []weir.Mode{weir.Enforce, weir.Shadow, weir.Peek} {
				e := p.take("", c.in(ph, 6, mode))
				p.found(e, 5)
				p.wantAdmitted(e, mode == weir.Shadow)
			}
			p.found(p.take("", c.in(ph, 0, weir.Enforce)), 5)
			p.wantUnder(c, int64(5*(1-i)), int64(5*i))
		}
	}
}

// checkTwinsEmptied gives everything back in each phase: what was kept under
// the other name must not return.
func checkTwinsEmptied(p *probe) {
	m := still(10)
	for _, pair := range [][2]phase{
		{phaseOld, phaseNext},
		{phaseNext, phaseOld},
		{phaseNext, phaseLast},
		{phaseLast, phaseNext},
		{phaseLast, phaseLeft},
		{phaseLeft, phaseLast},
		{phaseLeft, phaseNew},
		{phaseOld, phaseLast},
		{phaseOld, phaseLeft},
	} {
		c := p.counter(fmt.Sprint("emptied ", pair), m)
		p.take("", c.in(pair[0], 5, weir.Enforce))
		p.found(p.take("", c.in(pair[1], 5, weir.Refund)), 5)
		p.wantUnder(c, 0, 0)
		p.found(p.take("", c.in(pair[0], 1, weir.Enforce)), 0)
		p.found(p.take("", c.in(pair[1], 1, weir.Enforce)), 1)
	}
}

// checkTwinsApart has states that differ under the two names, as only callers
// make them whose clocks are further apart than they may be, or who have not
// heard of the new name. What they write under the old one must not become the
// counter of those who have left it behind.
func checkTwinsApart(p *probe) {
	m := still(100)
	for _, ph := range []phase{phaseNext, phaseLast, phaseLeft} {
		c := p.counter(fmt.Sprint("apart ", ph), m)
		p.take("", c.in(phaseOld, 7, weir.Enforce))
		p.take("", c.in(phaseNew, 9, weir.Enforce))
		was := int64(7)
		if ph == phaseLeft {
			was = 9
		}
		p.found(p.take("", c.in(ph, 100, weir.Enforce)), was)
		p.wantUnder(c, 7, 9)
		p.found(p.take("", c.in(ph, 1, weir.Enforce)), was)
		switch ph {
		case phaseNext:
			p.wantUnder(c, 8, 0)
		case phaseLast:
			p.wantUnder(c, 8, 8)
		case phaseLeft:
			p.wantUnder(c, 0, 10)
		}
	}
}

// checkTwinsMixedLimits changes the limit together with the name.
func checkTwinsMixedLimits(p *probe) {
	small, large := still(5), still(50)
	c := p.counter("limits", small)
	p.take("", c.in(phaseOld, 4, weir.Enforce))
	c.m = large
	p.found(p.take("", c.in(phaseNext, 4, weir.Enforce)), 4)
	c.m = small
	e := p.take("", c.in(phaseLast, 1, weir.Enforce))
	p.found(e, 8)
	p.wantAdmitted(e, false)
	c.m = large
	p.found(p.take("", c.in(phaseLeft, 0, weir.Peek)), 8)
	p.found(p.take("", c.in(phaseLeft, 1, weir.Enforce)), 8)
	p.wantUnder(c, 0, 9)
}

// checkTwinsTogether sends batches and entries in which phases meet.
func checkTwinsTogether(p *probe) {
	m := still(60)
	c := p.counter("batch", m)
	var batch []weir.Entry
	for i := range 70 {
		// Neighbours by turns, and now and then several of one kind in a row.
		ph := phase(i/14) + phase(i%3/2)
		batch = append(batch, weir.Entry{Charges: []weir.Charge{c.in(min(ph, phaseLeft), 1, weir.Enforce)}})
	}
	for i, e := range p.decide(batch...) {
		p.found(e, int64(min(i, 60)))
		p.wantAdmitted(e, i < 60)
	}
	checkTwinsGrouped(p)

	// An entry of several counters, of which one denies: none changes or moves.
	a, b, plain := p.counter("a", m), p.counter("b", still(3)), p.key("plain")
	both := func(ph phase) []weir.Charge {
		return []weir.Charge{a.in(ph, 2, weir.Enforce), {Key: plain, Meter: m, Cost: 1}, b.in(ph, 1, weir.Enforce)}
	}
	for i, ph := range []phase{phaseOld, phaseNext, phaseLast, phaseLeft, phaseNew} {
		e := p.take("", both(ph)...)
		p.found(e, int64(2*min(i, 3)))
		p.wantAdmitted(e, i < 3)
	}
	p.wantUnder(a, 6, 6)
	p.wantUnder(b, 3, 3)
	p.wantUsed(plain, m, 3)
}

// checkTwinsGrouped sends many of one kind at once, which a store may decide
// together.
func checkTwinsGrouped(p *probe) {
	m := still(30)
	for _, ph := range []phase{phaseNext, phaseLast, phaseLeft} {
		c := p.counter(fmt.Sprint("grouped ", ph), m)
		p.take("", c.in(phaseOld, 4, weir.Enforce))
		for i, e := range p.decide(repeated(40, c.in(ph, 1, weir.Enforce))...) {
			p.found(e, int64(min(4+i, 30)))
			p.wantAdmitted(e, i < 26)
		}
		for i, e := range p.decide(repeated(8, c.in(ph, 4, weir.Refund))...) {
			p.found(e, int64(max(0, 30-4*i)))
		}
		p.wantUnder(c, 0, 0)
	}
}

// repeated returns n entries that ask the same.
func repeated(n int, c weir.Charge) []weir.Entry {
	entries := make([]weir.Entry, n)
	for i := range entries {
		entries[i].Charges = []weir.Charge{c}
	}
	return entries
}

// checkTwinsExpiry looks at how long either name is held.
func checkTwinsExpiry(p *probe) {
	if p.Holds == nil {
		p.Skip("what this store holds cannot be seen")
	}
	for _, text := range []string{"10/s burst 10", "3/365d burst 3", "5/m fixed_window", "5/m", "9/s sliding_log", "4 concurrency 1h"} {
		c := p.counter(text, meter(text))
		p.wantHeld(text+", old", "a", c.in(phaseNext, 1, weir.Enforce))
		p.wantGone(text+", to come", c.new)
		for i := range 2 { // the first write makes the key, the second finds it
			id, charge := string(rune('b'+i)), c.in(phaseLast, 1, weir.Enforce)
			p.wantHeld(text+", last", id, charge)
			p.wantHeldAs(text+", its twin", id, c.in(phaseLast, 0, weir.Enforce), c.old)
		}
		p.wantHeldAs(text+", kept by a peek", "a", c.in(phaseLeft, 0, weir.Peek), c.old)
		p.take("c", c.in(phaseLeft, 1, weir.Refund))
		p.wantGone(text+", left behind", c.old)
		p.wantHeld(text+", left", "b", c.in(phaseLeft, 0, weir.Peek))
		p.wantHeldAs(text+", back", "e", c.in(phaseLast, 1, weir.Enforce), c.old)
		p.wantHeld(text+", back again", "d", c.in(phaseNext, 0, weir.Peek))
	}
}
