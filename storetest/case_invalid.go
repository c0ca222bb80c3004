package storetest

import (
	"errors"
	"math"
	"strings"

	"github.com/weirlimit/weir"
)

// invalidEntries returns entries that no store decides, by the field at fault.
func invalidEntries(p *probe) []struct {
	name, field string
	entry       weir.Entry
} {
	m, slots, key := still(10), meter("5 concurrency 1h"), p.key("invalid")
	one := func(c weir.Charge) weir.Entry { return weir.Entry{Charges: []weir.Charge{c}} }
	two := func(a, b weir.Charge) weir.Entry { return weir.Entry{Charges: []weir.Charge{a, b}} }
	fine := weir.Charge{Key: p.key("fine"), Meter: m, Cost: 1}
	many := weir.Entry{Charges: make([]weir.Charge, weir.MaxCharges+1)}
	for i := range many.Charges {
		many.Charges[i] = weir.Charge{Key: key + strings.Repeat("x", i), Meter: m, Cost: 1}
	}
	return []struct {
		name, field string
		entry       weir.Entry
	}{
		{"no charges", "charges", weir.Entry{}},
		{"too many charges", "charges", many},
		{"long id", "id", weir.Entry{ID: strings.Repeat("i", weir.MaxIDBytes+1), Charges: []weir.Charge{fine}}},
		{"empty key", "charges[0].key", one(weir.Charge{Meter: m, Cost: 1})},
		{"empty second key", "charges[1].key", two(fine, weir.Charge{Meter: m, Cost: 1})},
		{"long key", "charges[0].key", one(weir.Charge{Key: strings.Repeat("k", weir.MaxKeyBytes+1), Meter: m, Cost: 1})},
		{"key twice", "charges[1].key", two(fine, fine)},
		{"no meter", "charges[0].meter", one(weir.Charge{Key: key, Cost: 1})},
		{"zero meter", "charges[1].meter", two(fine, weir.Charge{Key: key, Meter: &weir.Meter{}, Cost: 1})},
		{"negative cost", "charges[0].cost", one(weir.Charge{Key: key, Meter: m, Cost: -1})},
		{"least cost", "charges[0].cost", one(weir.Charge{Key: key, Meter: m, Cost: math.MinInt64})},
		{"unknown mode", "charges[0].mode", one(weir.Charge{Key: key, Meter: m, Cost: 1, Mode: weir.UpTo + 1})},
		{"grouped peek", "charges[0].group", one(weir.Charge{Key: key, Meter: m, Cost: 1, Mode: weir.Peek, Group: 1})},
		{"mixed up_to", "charges", two(fine, weir.Charge{Key: key, Meter: m, Cost: 1, Mode: weir.UpTo})},
		{"twin without twinning", "charges[0].twin", one(weir.Charge{Key: key, Twin: p.key("twin"), Meter: m, Cost: 1})},
		{"twinning without twin", "charges[0].twin", one(weir.Charge{Key: key, Twinning: weir.TwinNext, Meter: m, Cost: 1})},
		{"twin of another tag", "charges[0].twin", one(weir.Charge{Key: key, Twin: p.key("twin@2"), Twinning: weir.TwinLast, Meter: m, Cost: 1})},
		{"twin that is a key", "charges[1].twin", two(fine, weir.Charge{Key: key, Twin: fine.Key, Twinning: weir.TwinOld, Meter: m, Cost: 1})},
		{"unknown twinning", "charges[0].twinning", one(weir.Charge{Key: key, Twin: p.key("twin"), Twinning: weir.TwinOld + 1, Meter: m, Cost: 1})},
		{"concurrency without id", "charges[0].id", one(weir.Charge{Key: key, Meter: slots, Cost: 1})},
		{"concurrency up_to", "charges[0].mode", one(weir.Charge{Key: key, Meter: slots, Cost: 1, Mode: weir.UpTo})},
		{"concurrency always", "charges[0].mode", one(weir.Charge{Key: key, Meter: slots, Cost: 1, Mode: weir.Always})},
	}
}

// checkInvalid sends each alone, and all of them between valid ones.
func checkInvalid(p *probe) {
	table := invalidEntries(p)
	m, key := still(int64(len(table))+1), p.key("neighbour")
	var mixed []weir.Entry
	for _, row := range table {
		p.wantInvalid(row.name, p.ask(row.entry)[0].Err, row.field)
		mixed = append(mixed, row.entry, weir.Entry{Charges: []weir.Charge{{Key: key, Meter: m, Cost: 1}}})
	}
	for i, e := range p.ask(mixed...) {
		if i%2 == 0 {
			p.wantInvalid(table[i/2].name+", with others", e.Err, table[i/2].field)
			continue
		}
		if e.Err != nil || !e.Admitted || e.Outcomes[0].Before.Used != int64(i/2) {
			p.Fatalf("the neighbour of %q is disturbed: %v, %+v", table[i/2].name, e.Err, e.Outcomes)
		}
	}
	p.wantUsed(p.key("fine"), still(10), 0)
	p.wantUsed(p.key("invalid"), still(10), 0)
}

// wantInvalid checks for a typed error that names the field.
func (p *probe) wantInvalid(what string, err error, field string) {
	p.Helper()
	we, ok := errors.AsType[*weir.Error](err)
	if !ok || we.Code != weir.CodeInvalid || we.Field != field {
		p.Fatalf("%s: error %#v, want code invalid and field %q", what, err, field)
	}
}

// checkInvalidReadReset does the same for the other two ways to name a key.
func checkInvalidReadReset(p *probe) {
	store := p.patient()
	names := func(what string, err error, field string) {
		p.Helper()
		we, ok := errors.AsType[*weir.Error](err)
		if !ok || we.Code != weir.CodeInvalid || !strings.Contains(we.Field, field) {
			p.Fatalf("%s: error %v, want code invalid and a field that says %q", what, err, field)
		}
	}
	long := strings.Repeat("k", weir.MaxKeyBytes+1)
	_, err := store.read("", still(1))
	names("read of an empty key", err, "key")
	_, err = store.read(long, still(1))
	names("read of a long key", err, "key")
	_, err = store.read(p.key("a"), nil)
	names("read without a meter", err, "meter")
	_, err = store.read(p.key("a"), &weir.Meter{})
	names("read with a zero meter", err, "meter")
	names("reset of an empty key", store.reset(""), "key")
	names("reset of a long key", store.reset(long), "key")
}

// checkHugeCosts charges what overflows when added, or is no longer exact as a
// float64.
func checkHugeCosts(p *probe) {
	p.freeze() // or a day may end
	for _, text := range []string{"10/365d burst 10", "10/365d", "10/365d sliding_log", "5000/365d", "10/d fixed_window"} {
		m := meter(text)
		for _, cost := range []int64{math.MaxInt64, math.MaxInt64 - 1, 1<<53 + 1, 1 << 32, 1<<32 + 1, weir.MaxUsed + 1, m.Capacity + 1} {
			key := p.key("huge " + text)
			for _, mode := range []weir.Mode{weir.Enforce, weir.Peek, weir.Shadow} {
				e := p.take("", weir.Charge{Key: key, Meter: m, Cost: cost, Mode: mode})
				if o := e.Outcomes[0]; o.OK || o.Granted != 0 || o.RetryAfter != weir.Never || e.Admitted != (mode == weir.Shadow) {
					p.Fatalf("%s: %s of %d: admitted %v, %+v; want never", text, mode, cost, e.Admitted, o)
				}
			}
			p.wantUsed(key, m, 0)
			if o := p.take("", weir.Charge{Key: key, Meter: m, Cost: cost, Mode: weir.UpTo}).Outcomes[0]; o.Granted != m.Capacity {
				p.Fatalf("%s: up_to %d granted %d", text, cost, o.Granted)
			}
			e := p.take("", weir.Charge{Key: key, Meter: m, Cost: cost, Mode: weir.Always})
			if o := e.Outcomes[0]; e.Admitted || o.Granted != min(cost, m.UsedCap-m.Capacity) {
				p.Fatalf("%s: always %d: admitted %v, granted %d", text, cost, e.Admitted, o.Granted)
			}
			p.take("", weir.Charge{Key: key, Meter: m, Cost: cost, Mode: weir.Refund})
			p.take("", weir.Charge{Key: key, Meter: m, Cost: m.Capacity, Mode: weir.Refund})
			p.wantUsed(key, m, 0)
		}
	}
}
