package weir_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirlimit/weir"
)

var (
	rate  = weir.MustMeter(weir.Limit{Algorithm: weir.GCRA, Count: 10, Window: weir.Second})
	slots = weir.MustMeter(weir.Limit{Algorithm: weir.Concurrency, Count: 10, Window: weir.Second})
)

func TestEntryValidateNamesTheField(t *testing.T) {
	type charges = []weir.Charge
	many := make(charges, weir.MaxCharges+1)
	for i := range many {
		many[i] = weir.Charge{Key: fmt.Sprint(i), Meter: rate, Cost: 1}
	}
	good := weir.Charge{Key: "good", Meter: rate, Cost: 1}
	for _, tt := range []struct {
		name    string
		id      string
		charges charges
		field   string
	}{
		{"no charges", "", nil, "charges"},
		{"too many charges", "", many, "charges"},
		{"an id too long", strings.Repeat("x", weir.MaxIDBytes+1), charges{good}, "id"},
		{"no key", "", charges{{Meter: rate, Cost: 1}}, "charges[0].key"},
		{"a key too long", "", charges{good, {Key: strings.Repeat("x", weir.MaxKeyBytes+1), Meter: rate}}, "charges[1].key"},
		{"no meter", "", charges{{Key: "k", Cost: 1}}, "charges[0].meter"},
		{"a meter of their own making", "", charges{{Key: "k", Meter: &weir.Meter{}, Cost: 1}}, "charges[0].meter"},
		{"a cost below 0", "", charges{good, {Key: "k", Meter: rate, Cost: -1}}, "charges[1].cost"},
		{"no such mode", "", charges{{Key: "k", Meter: rate, Mode: 6}}, "charges[0].mode"},
		{"a group of shadows", "", charges{{Key: "k", Meter: rate, Mode: weir.Shadow, Group: 1}}, "charges[0].group"},
		{"a group of peeks", "", charges{{Key: "k", Meter: rate, Mode: weir.Peek, Group: 1}}, "charges[0].group"},
		{"a group of refunds", "", charges{{Key: "k", Meter: rate, Mode: weir.Refund, Group: 1}}, "charges[0].group"},
		{"a group of up-to", "", charges{{Key: "k", Meter: rate, Mode: weir.UpTo, Group: 1}}, "charges[0].group"},
		{"concurrency always", "id", charges{{Key: "k", Meter: slots, Cost: 1, Mode: weir.Always}}, "charges[0].mode"},
		{"concurrency up to", "id", charges{{Key: "k", Meter: slots, Cost: 1, Mode: weir.UpTo}}, "charges[0].mode"},
		{"concurrency without an id", "", charges{{Key: "k", Meter: slots, Cost: 1}}, "charges[0].id"},
		{"a release without an id", "", charges{{Key: "k", Meter: slots, Cost: 1, Mode: weir.Refund}}, "charges[0].id"},
		{"a key twice", "", charges{good, {Key: "k", Meter: rate}, good}, "charges[2].key"},
		{"up-to beside others", "", charges{good, {Key: "k", Meter: rate, Mode: weir.UpTo}}, "charges"},
	} {
		e := weir.Entry{ID: tt.id, Charges: tt.charges}
		wantInvalid(t, tt.name, e.Validate(), tt.field)
	}
}

func TestEntryValidateAccepts(t *testing.T) {
	type charges = []weir.Charge
	many := make(charges, weir.MaxCharges)
	for i := range many {
		many[i] = weir.Charge{Key: fmt.Sprint(i), Meter: rate, Cost: 1}
	}
	for _, tt := range []struct {
		name    string
		id      string
		charges charges
	}{
		{"as many as may be", strings.Repeat("x", weir.MaxIDBytes), many},
		{"hostile keys", "", charges{
			{Key: "}", Meter: rate},
			{Key: "{", Meter: rate},
			{Key: "\x00", Meter: rate},
			{Key: "\xff\xfe", Meter: rate},
			{Key: strings.Repeat("k", weir.MaxKeyBytes), Meter: rate},
		}},
		{"every mode of a rate", "", charges{
			{Key: "a", Meter: rate, Mode: weir.Enforce, Group: 255},
			{Key: "b", Meter: rate, Mode: weir.Shadow},
			{Key: "c", Meter: rate, Mode: weir.Always, Group: 1},
			{Key: "d", Meter: rate, Mode: weir.Peek},
			{Key: "e", Meter: rate, Mode: weir.Refund, Cost: 1 << 62},
		}},
		{"up-to", "", charges{{Key: "a", Meter: rate, Mode: weir.UpTo}, {Key: "b", Meter: rate, Mode: weir.UpTo}}},
		{"a look at concurrency", "", charges{{Key: "a", Meter: slots, Mode: weir.Peek}}},
		{"concurrency", "id", charges{{Key: "a", Meter: slots, Cost: 1}, {Key: "b", Meter: slots, Mode: weir.Shadow}}},
	} {
		e := weir.Entry{ID: tt.id, Charges: tt.charges}
		if err := e.Validate(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestValidatingAnEntryDoesNotAllocate(t *testing.T) {
	e := weir.Entry{ID: "id", Charges: []weir.Charge{{Key: "a", Meter: rate, Cost: 1}, {Key: "b", Meter: slots, Cost: 1}}}
	if n := testing.AllocsPerRun(100, func() {
		if err := e.Validate(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
