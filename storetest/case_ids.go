package storetest

import (
	"fmt"
	"slices"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/algo"
)

// wantReplay checks that e repeats first.
func (p *probe) wantReplay(first, e weir.Entry) {
	p.Helper()
	if !e.Replayed || !e.Admitted || !slices.Equal(e.Outcomes, first.Outcomes) {
		p.Fatalf("replayed %v, admitted %v, %+v; want the first answer, %+v", e.Replayed, e.Admitted, e.Outcomes, first.Outcomes)
	}
}

func (p *probe) wantFresh(e weir.Entry, admitted bool) {
	p.Helper()
	if e.Replayed {
		p.Fatalf("replayed, want it decided: %+v", e.Outcomes)
	}
	p.wantAdmitted(e, admitted)
}

// checkIDs sends entries again: those that were admitted are not charged, those
// that were denied are decided.
func checkIDs(p *probe) {
	m := still(10)
	a, b := p.key("a"), p.key("b")
	charges := []weir.Charge{{Key: a, Meter: m, Cost: 3}, {Key: b, Meter: m, Cost: 2, Mode: weir.Shadow}}
	first := p.take("one", charges...)
	p.wantFresh(first, true)
	p.take("", weir.Charge{Key: a, Meter: m, Cost: 1})
	p.wantReplay(first, p.take("one", charges...))
	p.wantUsed(a, m, 4)
	p.wantUsed(b, m, 2)
	// Without an id nothing is a replay.
	p.wantFresh(p.take("", charges...), true)
	p.wantFresh(p.take("", charges...), true)
	p.wantUsed(a, m, 10)
	p.wantReplay(first, p.take("one", charges...))
	// A denied entry charged nothing: sent again it may pass, and only once.
	p.wantFresh(p.take("two", charges...), false)
	p.take("", weir.Charge{Key: a, Meter: m, Cost: 4, Mode: weir.Refund})
	second := p.take("two", charges...)
	p.wantFresh(second, true)
	p.wantReplay(second, p.take("two", charges...))
	p.wantUsed(a, m, 9)
	// A refund under an id happens once, and is no replay of the charge.
	charge := weir.Charge{Key: p.key("c"), Meter: m, Cost: 3}
	refund := charge
	refund.Mode = weir.Refund
	p.take("", charge)
	first = p.take("three", charge)
	second = p.take("three", refund)
	p.wantFresh(second, true)
	p.wantUsed(charge.Key, m, 3)
	p.wantReplay(second, p.take("three", refund))
	p.wantReplay(first, p.take("three", charge))
	p.wantUsed(charge.Key, m, 3)
	// In one batch, too.
	entries := make([]weir.Entry, 3)
	for i := range entries {
		entries[i] = weir.Entry{ID: "batch", Charges: []weir.Charge{{Key: a, Meter: m, Cost: 1}}}
	}
	entries = p.decide(entries...)
	p.wantFresh(entries[0], true)
	p.wantReplay(entries[0], entries[1])
	p.wantReplay(entries[0], entries[2])
	p.wantUsed(a, m, 10)
}

// checkIDScope uses one id for entries that differ in one thing each: none is
// a replay of another.
func checkIDScope(p *probe) {
	m := still(1000)
	var used int64
	for i, charges := range [][]weir.Charge{
		{{Key: "a", Cost: 1}},
		{{Key: "a", Cost: 2}},
		{{Key: "a", Cost: 256 + 1}},
		{{Key: "a", Cost: 1, Mode: weir.Always}},
		{{Key: "a", Cost: 1}, {Key: "b", Cost: 1}},
		{{Key: "b", Cost: 1}, {Key: "a", Cost: 1}},
		{{Key: "a", Cost: 1}, {Key: "b", Cost: 2}},
		{{Key: "a", Cost: 2}, {Key: "b", Cost: 1}},
		{{Key: "a", Cost: 1}, {Key: "bc", Cost: 1}},
		{{Key: "a", Cost: 1}, {Key: "b", Cost: 1}, {Key: "c", Cost: 1}},
		{{Key: "a", Cost: 1}, {Key: "b", Cost: 1, Mode: weir.Shadow}},
		{{Key: "a", Cost: 1}, {Key: "b", Cost: 1, Mode: weir.Always}},
	} {
		for j := range charges {
			used += map[bool]int64{true: charges[j].Cost}[charges[j].Key == "a"]
			charges[j].Key, charges[j].Meter = p.key(charges[j].Key), m
		}
		e := p.take("same", charges...)
		if e.Replayed {
			p.Fatalf("entry %d is taken for a replay: %+v", i, charges)
		}
		p.wantUsed(p.key("a"), m, used)
		p.wantReplay(e, p.take("same", charges...))
	}
	// Ids are any bytes; only equal ones are equal.
	for _, id := range []string{"same\x00", "sam", "e", "\x00", "\xff", "\ufffd", "}", " ", "SAME", string(make([]byte, weir.MaxIDBytes))} {
		p.wantFresh(p.take(id, weir.Charge{Key: p.key("a"), Meter: m, Cost: 1}), true)
	}
	p.wantUsed(p.key("a"), m, used+10)
}

// checkIDWindow asks just within the time an id is remembered, and after it.
func checkIDWindow(p *probe) {
	m := still(10)
	p.SetClock(Base)
	c := weir.Charge{Key: p.key("a"), Meter: m, Cost: 1}
	first := p.take("one", c)
	p.SetClock(Base + algo.ReplayWindow - weir.Second)
	p.wantReplay(first, p.take("one", c))
	// A replay is no new beginning.
	p.SetClock(Base + algo.ReplayWindow + weir.Second)
	second := p.take("one", c)
	p.wantFresh(second, true)
	p.wantReplay(second, p.take("one", c))
	p.wantUsed(c.Key, m, 2)
}

// checkIDsConcurrent sends the same entry from many callers: one is charged. And
// so for its refund.
func checkIDsConcurrent(p *probe) {
	m := still(100)
	for round := range 20 {
		a, b := p.key(fmt.Sprintf("a%d", round)), p.key(fmt.Sprintf("b%d", round))
		p.take("", weir.Charge{Key: a, Meter: m, Cost: 20})
		p.once([]weir.Charge{{Key: a, Meter: m, Cost: 7}, {Key: b, Meter: m, Cost: 1}})
		p.wantUsed(a, m, 27)
		p.wantUsed(b, m, 1)
		p.once([]weir.Charge{{Key: a, Meter: m, Cost: 7, Mode: weir.Refund}})
		p.wantUsed(a, m, 20)
	}
}

// once sends an entry from many callers and checks that all but one are told
// what that one was.
func (p *probe) once(charges []weir.Charge) {
	p.Helper()
	answers := make([]weir.Entry, workers)
	p.parallel(workers, func(i int) error {
		answers[i] = p.ask(weir.Entry{ID: "same", Charges: slices.Clone(charges)})[0]
		return answers[i].Err
	})
	first := slices.IndexFunc(answers, func(e weir.Entry) bool { return !e.Replayed })
	if first < 0 {
		p.Fatal("every answer is a replay")
	}
	for i, e := range answers {
		if i != first {
			p.wantReplay(answers[first], e)
		}
	}
}
