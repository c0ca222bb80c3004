package storetest

import (
	"fmt"
	"time"

	"github.com/weirlimit/weir"
)

// renamings are the phases that two sendings of one request can fall into, and
// the second must be known again. The end of a renaming is not among them.
var renamings = [][2]phase{
	{phaseOld, phaseNext},
	{phaseNext, phaseOld},
	{phaseOld, phaseLast},
	{phaseOld, phaseLeft},
	{phaseNext, phaseLast},
	{phaseLast, phaseNext},
	{phaseNext, phaseLeft},
	{phaseLast, phaseLeft},
	{phaseLeft, phaseLast},
}

// checkTwinIDs sends entries again after their counter's name has changed.
func checkTwinIDs(p *probe) {
	m := still(10)
	for _, pair := range renamings {
		c := p.counter(fmt.Sprint(pair), m)
		other := weir.Charge{Key: p.key(fmt.Sprint("other ", pair)), Meter: m, Cost: 1, Mode: weir.Shadow}
		send := func(id string, ph phase, cost int64, mode weir.Mode) weir.Entry {
			p.Helper()
			return p.take(id, c.in(ph, cost, mode), other)
		}
		first := send("one", pair[0], 3, weir.Enforce)
		p.wantFresh(first, true)
		p.wantReplay(first, send("one", pair[1], 3, weir.Enforce))
		p.found(send("", pair[1], 1, weir.Enforce), 3)
		p.wantReplay(first, send("one", pair[0], 3, weir.Enforce))
		// A refund under the id happens once.
		back := send("one", pair[1], 3, weir.Refund)
		p.wantFresh(back, true)
		p.wantReplay(back, send("one", pair[0], 3, weir.Refund))
		// What was denied is decided afresh.
		p.wantFresh(send("two", pair[0], 11, weir.Enforce), false)
		p.wantFresh(send("two", pair[1], 11, weir.Enforce), false)
		p.found(send("", pair[1], 0, weir.Peek), 1)
	}
	// In one batch, too, and not for another counter.
	c, d := p.counter("batch", m), p.counter("another", m)
	got := p.decide(
		weir.Entry{ID: "one", Charges: []weir.Charge{c.in(phaseNext, 1, weir.Enforce)}},
		weir.Entry{ID: "one", Charges: []weir.Charge{c.in(phaseLast, 1, weir.Enforce)}},
		weir.Entry{ID: "one", Charges: []weir.Charge{d.in(phaseLast, 1, weir.Enforce)}},
		weir.Entry{ID: "one", Charges: []weir.Charge{c.in(phaseOld, 1, weir.Enforce)}},
		weir.Entry{ID: "two", Charges: []weir.Charge{c.in(phaseLeft, 1, weir.Enforce)}},
		weir.Entry{ID: "one", Charges: []weir.Charge{c.in(phaseLeft, 1, weir.Enforce)}},
	)
	p.wantFresh(got[0], true)
	p.wantReplay(got[0], got[1])
	p.wantFresh(got[2], true)
	p.wantReplay(got[0], got[3])
	p.wantFresh(got[4], true)
	p.wantReplay(got[0], got[5])
	p.wantUnder(c, 0, 2)
	p.wantUnder(d, 1, 1)
	checkTwinMemory(p)
}

// checkTwinMemory overwrites both names once done is called.
func checkTwinMemory(p *probe) {
	m := still(10)
	for i := range 10 {
		c := p.counter(fmt.Sprint("memory ", i), m)
		key, twin := []byte(c.new), []byte(c.old)
		charge := c.in(phaseLast, 2, weir.Enforce)
		charge.Key, charge.Twin = alias(key), alias(twin)
		b := &weir.Batch{Deadline: time.Now().Add(patience), Entries: []weir.Entry{{ID: "id", Charges: []weir.Charge{charge}}}}
		p.submit(b, func(b *weir.Batch) { poison(b, [][]byte{key, twin}) })
		p.wantUnder(c, 2, 2)
		if e := p.take("id", c.in(phaseLeft, 2, weir.Enforce)); !e.Replayed {
			p.Fatalf("round %d: the id is forgotten once its memory is overwritten", i)
		}
	}
}

// checkTwinConcurrency acquires in one phase, renews and releases in another.
func checkTwinConcurrency(p *probe) {
	m := meter("3 concurrency 1h")
	for _, pair := range append(renamings, [2]phase{phaseLeft, phaseNew}) {
		c := p.counter(fmt.Sprint(pair), m)
		p.wantAdmitted(p.take("one", c.in(pair[0], 1, weir.Enforce)), true)
		p.wantAdmitted(p.take("two", c.in(pair[1], 2, weir.Enforce)), true)
		p.wantAdmitted(p.take("three", c.in(pair[1], 1, weir.Enforce)), false)
		// Who holds a unit may ask again, by whichever name.
		if e := p.take("one", c.in(pair[1], 1, weir.Enforce)); !e.Admitted || e.Outcomes[0].Granted != 0 {
			p.Fatalf("%s: renewing: admitted %v, granted %d; want true, 0", pair, e.Admitted, e.Outcomes[0].Granted)
		}
		if e := p.take("three", c.in(pair[1], 1, weir.Refund)); e.Outcomes[0].Granted != 0 {
			p.Fatalf("%s: a stranger released %d units", pair, e.Outcomes[0].Granted)
		}
		for i, id := range []string{"one", "two"} {
			e := p.take(id, c.in(pair[1], 1, weir.Refund))
			p.found(e, int64(3-i))
			if got := e.Outcomes[0].Granted; got != int64(1+i) {
				p.Fatalf("%s: releasing gave back %d units, want %d", pair, got, 1+i)
			}
		}
		p.found(p.take("four", c.in(pair[0], 3, weir.Enforce)), 0)
		p.found(p.take("four", c.in(pair[1], 3, weir.Refund)), 3)
		p.wantUnder(c, 0, 0)
	}
}
