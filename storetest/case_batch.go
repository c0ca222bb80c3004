package storetest

import (
	"fmt"

	"github.com/weirlimit/weir"
)

// checkOrder sends batches whose entries share keys: a store that groups equal
// entries must not let them overtake others.
func checkOrder(p *probe) {
	m := still(4)
	one := func(key string, cost int64) weir.Entry {
		return weir.Entry{Charges: []weir.Charge{{Key: p.key(key), Meter: m, Cost: cost}}}
	}
	both := func(cost int64) weir.Entry {
		return weir.Entry{Charges: []weir.Charge{
			{Key: p.key("a"), Meter: m, Cost: cost},
			{Key: p.key("b"), Meter: m, Cost: cost},
		}}
	}
	got := p.decide(
		one("a", 1), // a=1
		one("a", 3), // a=4
		one("a", 1), // full
		one("b", 1), // b=1
		both(1),     // a is full
		one("b", 2), // b=3
		one("b", 1), // b=4
		one("b", 1), // full
	)
	for i, want := range []struct {
		admitted bool
		was      int64
	}{{true, 0}, {true, 1}, {false, 4}, {true, 0}, {false, 4}, {true, 1}, {true, 3}, {false, 4}} {
		if e := got[i]; e.Admitted != want.admitted || e.Outcomes[0].Before.Used != want.was {
			p.Fatalf("entry %d: admitted %v, found %d in use; want %v, %d",
				i, e.Admitted, e.Outcomes[0].Before.Used, want.admitted, want.was)
		}
	}
	checkMixedLimits(p)
}

// checkMixedLimits changes a key's limit within a batch.
func checkMixedLimits(p *probe) {
	small, large := still(2), still(5)
	key := p.key("mixed")
	var entries []weir.Entry
	for _, m := range []*weir.Meter{small, large, small, large, small, large, large} {
		entries = append(entries, weir.Entry{Charges: []weir.Charge{{Key: key, Meter: m, Cost: 1}}})
	}
	want := []bool{true, true, false, true, false, true, true}
	for i, e := range p.decide(entries...) {
		if e.Admitted != want[i] {
			p.Fatalf("entry %d under %s: admitted %v, want %v", i, e.Charges[0].Meter.Limit, e.Admitted, want[i])
		}
	}
}

// checkLargeBatch sends more entries and keys than a store takes in one go, and
// entries of as many charges as there may be.
func checkLargeBatch(p *probe) {
	const entries, hot = 700, 400
	m, cap := still(5), still(hot)
	batch := make([]weir.Entry, entries)
	for i := range batch {
		tag := i % 7
		batch[i].Charges = []weir.Charge{
			{Key: p.key(fmt.Sprintf("cold%d@%d", i, tag)), Meter: m, Cost: 1 + int64(i%5)},
			{Key: p.key(fmt.Sprintf("hot@%d", tag)), Meter: cap, Cost: 1},
		}
	}
	for i, e := range p.decide(batch...) {
		p.wantAdmitted(e, true)
		if o := e.Outcomes[1]; o.Before.Used != int64(i/7) {
			p.Fatalf("entry %d finds %d in use under its tag's hot key, want %d", i, o.Before.Used, i/7)
		}
	}
	for i := 0; i < entries; i += 99 {
		p.wantUsed(p.key(fmt.Sprintf("cold%d@%d", i, i%7)), m, 1+int64(i%5))
	}
	wide := make([]weir.Entry, 10)
	for i := range wide {
		for j := range weir.MaxCharges {
			wide[i].Charges = append(wide[i].Charges, weir.Charge{Key: p.key(fmt.Sprintf("wide%d", j)), Meter: m, Cost: 1})
		}
	}
	for i, e := range p.decide(wide...) {
		p.wantAdmitted(e, i < 5)
	}
	p.wantUsed(p.key("wide63"), m, 5)
}
