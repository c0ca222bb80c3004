package weir_test

import (
	"strings"
	"testing"

	"github.com/weirlimit/weir"
)

func TestTwinValidateNamesTheField(t *testing.T) {
	type charges = []weir.Charge
	twin := func(key, twin string, how weir.Twinning) weir.Charge {
		return weir.Charge{Key: key, Twin: twin, Twinning: how, Meter: rate, Cost: 1}
	}
	good := twin("{t}a", "{t}b", weir.TwinNext)
	for _, tt := range []struct {
		name    string
		charges charges
		field   string
	}{
		{"a twin without twinning", charges{twin("{t}a", "{t}b", weir.TwinNone)}, "charges[0].twin"},
		{"twinning without a twin", charges{twin("{t}a", "", weir.TwinLast)}, "charges[0].twin"},
		{"no such twinning", charges{twin("{t}a", "{t}b", 4)}, "charges[0].twinning"},
		{"a twin too long", charges{good, twin("{t}c", "{t}"+strings.Repeat("x", weir.MaxKeyBytes-2), weir.TwinOld)}, "charges[1].twin"},
		{"its own twin", charges{twin("{t}a", "{t}a", weir.TwinNext)}, "charges[0].twin"},
		{"another tag", charges{twin("{t}a", "{u}a", weir.TwinNext)}, "charges[0].twin"},
		{"no tag", charges{twin("a", "b", weir.TwinNext)}, "charges[0].twin"},
		{"an empty tag", charges{twin("{}a", "{}b", weir.TwinNext)}, "charges[0].twin"},
		{"half a tag", charges{twin("{t", "{t}", weir.TwinNext)}, "charges[0].twin"},
		{"a pair twice", charges{good, good}, "charges[1].key"},
		{"a pair and its reverse", charges{good, twin("{t}b", "{t}a", weir.TwinLast)}, "charges[1].key"},
		{"a key that is a twin", charges{good, {Key: "{t}b", Meter: rate}}, "charges[1].key"},
		{"a twin that is a key", charges{{Key: "{t}b", Meter: rate}, good}, "charges[1].twin"},
		{"a twin of two", charges{good, twin("{t}c", "{t}b", weir.TwinNext)}, "charges[1].twin"},
	} {
		e := weir.Entry{Charges: tt.charges}
		wantInvalid(t, tt.name, e.Validate(), tt.field)
	}
}

func TestTwinValidateAccepts(t *testing.T) {
	for _, e := range []weir.Entry{
		{Charges: []weir.Charge{
			{Key: "{t}a", Twin: "{t}b", Twinning: weir.TwinNext, Meter: rate, Cost: 1},
			{Key: "x{t}a", Twin: "y{t}{u}", Twinning: weir.TwinLast, Meter: rate, Cost: 1},
			{Key: "{u}a", Meter: rate, Cost: 1},
			{Key: "{t}c", Twin: "{t}" + strings.Repeat("x", weir.MaxKeyBytes-3), Twinning: weir.TwinOld, Meter: rate, Cost: 1},
		}},
		{ID: "id", Charges: []weir.Charge{{Key: "{t}a", Twin: "{t}b", Twinning: weir.TwinOld, Meter: slots, Cost: 1}}},
	} {
		if n := testing.AllocsPerRun(10, func() {
			if err := e.Validate(); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func TestElder(t *testing.T) {
	for how, want := range map[weir.Twinning]string{
		weir.TwinNone: "key", weir.TwinNext: "key", weir.TwinLast: "twin", weir.TwinOld: "twin",
	} {
		c := weir.Charge{Key: "key", Twin: "twin", Twinning: how}
		if got := c.Elder(); got != want {
			t.Errorf("%s: %s, want %s", how, got, want)
		}
	}
}
